import type { IncomingMessage, ServerResponse } from "node:http";
import { type AgentCard, AgentCard as Card, type Message, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from "@a2a-js/sdk/server";
import { type WebServer, webServer } from "../support/web-server.ts";

export { Role, TaskState };

/** The reaction of an agent of the official SDK to a message. */
export type Behaviour = (
  request: Readonly<{ text: string; taskId: string; contextId: string; turn: number }>,
  say: Saying,
) => Promise<void> | void;

export type Saying = Readonly<{
  /** Begins the task; this has to come before every answer of the agent. */
  task(state?: TaskState, text?: string): void;
  status(state: TaskState, text?: string, metadata?: Record<string, unknown>): void;
  artifact(text: string, more?: { name?: string; id?: string; append?: boolean; data?: unknown }): void;
  message(text: string): void;
  bus: ExecutionEventBus;
}>;

export type SdkServer = WebServer &
  Readonly<{
    cardUrl: string;
    cancelled: readonly string[];
    /** The message of each request that contained one. */
    sent: readonly Message[];
  }>;

type Options = Readonly<{
  streaming?: boolean;
  /** Handles a request before the protocol does; returns true when it has answered. */
  guard?: (request: IncomingMessage, response: ServerResponse) => boolean;
  card?: Partial<AgentCard>;
}>;

/** A server made of parts of the official SDK, on a plain HTTP server. */
export async function sdkServer(
  behave: Behaviour,
  { streaming = true, guard = () => false, card = {} }: Options = {},
): Promise<SdkServer> {
  const cancelled: string[] = [];
  const sent: Message[] = [];
  const handler: { rpc?: JsonRpcTransportHandler; card?: AgentCard } = {};
  const server = await webServer({
    "/.well-known/agent-card.json": (request, response) => {
      if (!guard(request, response)) json(response, Card.toJSON(handler.card!));
    },
    "/": (request, response) => {
      if (guard(request, response)) return;
      const body = server.requests.at(-1)!.body;
      void answer(handler.rpc!, body, response);
    },
  });
  const executor: AgentExecutor = {
    execute: async (context, bus) => {
      sent.push(context.userMessage);
      const turn = sent.length;
      const text = context.userMessage.parts
        .map(({ content }) => (content?.$case === "text" ? content.value : ""))
        .join("");
      const { taskId, contextId } = context;
      await behave({ text, taskId, contextId, turn }, saying(context, bus));
    },
    cancelTask: async (taskId, bus) => {
      cancelled.push(taskId);
      const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: "", status, metadata: undefined }));
      bus.finished();
    },
  };
  handler.card = {
    name: "echo",
    description: "repeats",
    version: "1",
    provider: undefined,
    supportedInterfaces: [{ url: server.url("/"), protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" }],
    capabilities: { streaming, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    signatures: [],
    ...card,
  };
  handler.rpc = new JsonRpcTransportHandler(new DefaultRequestHandler(handler.card, new InMemoryTaskStore(), executor));
  return { ...server, cardUrl: server.url("/.well-known/agent-card.json"), cancelled, sent };
}

async function answer(rpc: JsonRpcTransportHandler, body: string, response: ServerResponse): Promise<void> {
  const got = await rpc.handle(body, new ServerCallContext({ requestedVersion: "1.0" }));
  if (!(Symbol.asyncIterator in got)) return json(response, got);
  response.writeHead(200, { "content-type": "text/event-stream" });
  try {
    for await (const event of got) response.write(`data: ${JSON.stringify(event)}\n\n`);
  } catch {
    // The task has already ended, so its stream ends before it begins.
  }
  response.end();
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function saying({ taskId, contextId }: RequestContext, bus: ExecutionEventBus): Saying {
  const agentMessage = (text: string): Message => ({
    messageId: crypto.randomUUID(),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [part(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  });
  const statusOf = (state: TaskState, text?: string) => ({
    state,
    message: text === undefined ? undefined : agentMessage(text),
    timestamp: new Date().toISOString(),
  });
  return {
    bus,
    task: (state = TaskState.TASK_STATE_SUBMITTED, text) =>
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: statusOf(state, text),
          artifacts: [],
          history: [],
          metadata: undefined,
        }),
      ),
    status: (state, text, metadata) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text), metadata })),
    artifact: (text, { name = "", id = "a", append = false, data } = {}) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          append,
          lastChunk: false,
          metadata: undefined,
          artifact: {
            artifactId: id,
            name,
            description: "",
            parts:
              data === undefined
                ? [part(text)]
                : [{ content: { $case: "data", value: data }, metadata: undefined, filename: "", mediaType: "" }],
            metadata: undefined,
            extensions: [],
          },
        }),
      ),
    message: (text) => bus.publish(AgentEvent.message({ ...agentMessage(text), taskId: "" })),
  };
}

const part = (text: string) => ({
  content: { $case: "text" as const, value: text },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});
