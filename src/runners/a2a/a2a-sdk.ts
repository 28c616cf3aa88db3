import type {
  AgentCard,
  Artifact,
  Message,
  Part,
  Role,
  StreamResponse,
  Task,
  TaskState,
  TaskStatus,
} from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { z } from "zod";
import type {
  RemoteArtifact,
  RemoteIds,
  RemoteMessage,
  RemotePart,
  RemoteState,
  RemoteStatus,
  RemoteTask,
  RemoteUpdate,
} from "../../core/net/a2a.ts";
import { CrewError, isCrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { isDeeplyNested, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { isUnreachable } from "../../runtime/network/guarded-request.ts";

/** The agent card of a remote agent, which describes it. */
export type RemoteAgentCard = Readonly<{
  name: string;
  description: string;
  /** The address to which messages are sent. */
  url: string;
  protocolVersion: string;
  streaming: boolean;
}>;

/** A sign-in scheme in a card. */
export type CardScheme =
  | Readonly<{ type: "apiKey"; in: string; name: string }>
  | Readonly<{ type: "http"; scheme: string }>
  | Readonly<{ type: "oauth2"; authorizationUrl?: string; tokenUrl?: string; scopes: readonly string[] }>
  | Readonly<{ type: "other" }>;

export type Outgoing = RemoteIds & Readonly<{ messageId: string; text: string }>;

/** A client of one remote agent. Every method throws on failure. */
export type RemoteClient = Readonly<{
  card: RemoteAgentCard;
  /** Sends a message; the reply is streamed if the agent supports it. */
  send(message: Outgoing, signal: AbortSignal): AsyncIterable<RemoteUpdate>;
  /** Streams the updates of a running task. */
  listen(task: string, signal: AbortSignal): AsyncIterable<RemoteUpdate>;
  get(task: string, signal: AbortSignal): Promise<RemoteTask>;
  cancel(task: string, signal: AbortSignal): Promise<RemoteTask>;
}>;

/** Parses a card, of either protocol version, with the A2A library. */
export async function readCard(json: unknown): Promise<AgentCard> {
  const { DefaultAgentCardResolver } = (await load()).client;
  return new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(json);
}

/** The form of a card over which signatures are computed. */
export async function canonicalCard(card: AgentCard): Promise<string> {
  return (await load()).core.canonicalizeAgentCard(card);
}

/** A client for the agent that a card describes; every request goes through `fetch`. */
export async function connectAgent(card: AgentCard, fetchImpl: typeof fetch): Promise<RemoteClient> {
  const { client: sdk, core } = await load();
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new sdk.ClientFactory({
    transports: [new sdk.JsonRpcTransportFactory(options), new sdk.RestTransportFactory(options)],
    cardResolver: new sdk.DefaultAgentCardResolver(options),
  });
  const client: Client = await factory.createFromAgentCard(card);
  const streaming = card.capabilities?.streaming === true;
  const request = ({ messageId, text, contextId = "", taskId = "" }: Outgoing) => ({
    tenant: "",
    metadata: undefined,
    configuration: {
      acceptedOutputModes: ["text/plain", "application/json", "text/*"],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
    },
    message: {
      messageId,
      contextId,
      taskId,
      role: core.Role.ROLE_USER,
      parts: [
        {
          content: { $case: "text" as const, value: text },
          metadata: undefined,
          filename: "",
          mediaType: "text/plain",
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  });
  return {
    card: {
      name: card.name,
      description: card.description,
      url: endpointOf(client, card),
      protocolVersion: client.protocolVersion,
      streaming,
    },
    send: (message, signal) =>
      usableUpdates(async function* () {
        if (!streaming) {
          const answer = await client.sendMessage(request(message), { signal });
          yield "messageId" in answer ? messageOfSdk(answer) : taskOf(answer);
          return;
        }
        for await (const update of client.sendMessageStream(request(message), { signal })) yield* updateOf(update);
      }, signal),
    listen: (id, signal) =>
      usableUpdates(async function* () {
        for await (const update of client.resubscribeTask({ tenant: "", id }, { signal })) yield* updateOf(update);
      }, signal),
    get: (id, signal) =>
      usable(async () => {
        const task = usableUpdate(taskOf(await client.getTask({ tenant: "", id }, { signal })));
        if (task.id !== id && task.id !== "") throw new UnusableAnswer("it is about another task");
        return task;
      }, signal),
    cancel: (id, signal) =>
      usable(
        async () => usableUpdate(taskOf(await client.cancelTask({ tenant: "", id, metadata: undefined }, { signal }))),
        signal,
      ),
  };
}

/** An answer that arrived and does not follow the protocol. */
class UnusableAnswer extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`the answer does not follow the A2A protocol: ${why}`, options);
    this.name = "UnusableAnswer";
  }
}

export const isUnusableAnswer = (error: unknown): boolean => error instanceof Error && error.name === "UnusableAnswer";

/** Checks the fields of an answer. The A2A library checks only some of them; the other fields could be of any type. */
const id = z
  .string()
  .max(1_000)
  .regex(/^\P{Cc}*$/u);
const file = z.object({ name: z.string().optional(), uri: z.string().optional(), mimeType: z.string().optional() });
const parts = z.array(
  z.union([
    z.object({ kind: z.literal("text"), text: z.string() }),
    z.object({ kind: z.literal("data"), data: z.unknown() }),
    z.object({ kind: z.literal("file"), file }),
  ]),
);
const message = z.object({ messageId: id, parts, contextId: id.optional(), taskId: id.optional() });
const artifact = z.object({ artifactId: id, name: z.string().optional(), parts });
const status = z.object({ message: message.optional() });
const ids = { contextId: id, taskId: id };
const updates: Readonly<Record<RemoteUpdate["kind"], z.ZodType>> = {
  message,
  task: z.object({ id, contextId: id, status, artifacts: z.array(artifact), history: z.array(message) }),
  "status-update": z.object({ ...ids, status }),
  "artifact-update": z.object({ ...ids, artifact }),
};

function usableUpdate<T extends RemoteUpdate>(update: T): T {
  if (isDeeplyNested(update)) throw new UnusableAnswer(`it is ${TOO_DEEP_JSON}`);
  const checked = updates[update.kind].safeParse(update);
  if (checked.success) return update;
  const at = checked.error.issues[0]?.path.join(".") ?? "";
  throw new UnusableAnswer(`its field ${at} is not valid`);
}

async function usable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? error : asUnusable(error);
  }
}

async function* usableUpdates(
  work: () => AsyncIterable<RemoteUpdate>,
  signal: AbortSignal,
): AsyncGenerator<RemoteUpdate, void> {
  try {
    for await (const update of work()) yield usableUpdate(update);
  } catch (error) {
    throw signal.aborted ? error : asUnusable(error);
  }
}

/**
 * Converts an error of the A2A library. Errors of connections, rules and the protocol keep their kind; every other
 * error was caused by the content of the answer.
 */
function asUnusable(error: unknown): unknown {
  const known =
    isUnreachable(error) ||
    isCrewError(error) ||
    isProtocolError(error) ||
    (error instanceof Error && KNOWN_ERRORS.has(error.name));
  return known ? error : new UnusableAnswer(wordsOf(error), { cause: error });
}

const KNOWN_ERRORS: ReadonlySet<string> = new Set(["RemoteFailure", "Refusal", "UnusableAnswer"]);

/**
 * The message of an error, for a person. The JavaScript engine's own messages say nothing about the answer, so they are
 * replaced.
 */
function wordsOf(error: unknown): string {
  if (error instanceof SyntaxError) return "it is not JSON";
  return error instanceof TypeError || error instanceof RangeError
    ? "its fields have wrong types, or it is nested too deeply"
    : messageOf(error);
}

/** True for an error that the remote agent answered, with or without a known code. */
export function isProtocolError(error: unknown): boolean {
  if (protocolCode(error) !== undefined) return true;
  for (let at: unknown = error; at instanceof Error; at = Object.getPrototypeOf(at))
    // the name of the class in the source of the SDK, or in a bundle
    if (/^_?A2AError$/.test(at.constructor.name)) return true;
  return false;
}

/** The A2A error code in an error, as `-32001`; `undefined` for any other error. */
export function protocolCode(error: unknown): number | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const known = Object.entries(CODES).find(
      ([name]) => at instanceof Error && (at.name === name || at.constructor.name === name),
    );
    if (known) return known[1];
    if ("code" in at && typeof at.code === "number") return at.code;
  }
  return undefined;
}

const CODES: Readonly<Record<string, number>> = {
  TaskNotFoundError: -32001,
  TaskNotCancelableError: -32002,
  PushNotificationNotSupportedError: -32003,
  UnsupportedOperationError: -32004,
  ContentTypeNotSupportedError: -32005,
  InvalidAgentResponseError: -32006,
  VersionNotSupportedError: -32009,
  RequestMalformedError: -32600,
};

/** Loads the A2A library, which is an optional dependency. */
async function load() {
  try {
    const [core, client] = await Promise.all([import("@a2a-js/sdk"), import("@a2a-js/sdk/client")]);
    return { core, client };
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      `Remote agents need the package @a2a-js/sdk, which cannot be loaded: ${messageOf(cause)}`,
      "Install the package: npm install @a2a-js/sdk",
      { cause },
    );
  }
}

function endpointOf(client: Client, card: AgentCard): string {
  const transport = client.transport as { endpoint?: unknown };
  return typeof transport.endpoint === "string" ? transport.endpoint : (card.supportedInterfaces[0]?.url ?? "");
}

/** The sign-in schemes of a card. */
export function schemesOf({ securitySchemes }: AgentCard): CardScheme[] {
  return Object.values(securitySchemes ?? {}).map(({ scheme }): CardScheme => {
    switch (scheme?.$case) {
      case "apiKeySecurityScheme":
        return { type: "apiKey", in: scheme.value.location, name: scheme.value.name };
      case "httpAuthSecurityScheme":
        return { type: "http", scheme: scheme.value.scheme };
      case "oauth2SecurityScheme": {
        const flow = scheme.value.flows?.flow?.value;
        return {
          type: "oauth2",
          scopes: Object.keys(flow?.scopes ?? {}),
          ...(flow && "authorizationUrl" in flow && { authorizationUrl: flow.authorizationUrl }),
          ...(flow && "tokenUrl" in flow && { tokenUrl: flow.tokenUrl }),
        };
      }
      default:
        return { type: "other" };
    }
  });
}

function* updateOf({ payload }: StreamResponse): Generator<RemoteUpdate> {
  switch (payload?.$case) {
    case "message":
      return yield messageOfSdk(payload.value);
    case "task":
      return yield taskOf(payload.value);
    case "statusUpdate": {
      const { taskId, contextId, status, metadata } = payload.value;
      return yield {
        kind: "status-update",
        taskId,
        contextId,
        status: statusOf(status),
        ...defined({ metadata }),
      };
    }
    case "artifactUpdate": {
      const { taskId, contextId, artifact, append, lastChunk } = payload.value;
      if (artifact)
        yield { kind: "artifact-update", taskId, contextId, artifact: artifactOf(artifact), append, lastChunk };
      return;
    }
    case undefined:
      return; // an update of an unknown kind is ignored
  }
}

function taskOf({ id, contextId, status, artifacts, history, metadata }: Task): RemoteTask {
  return {
    kind: "task",
    id,
    contextId,
    status: statusOf(status),
    artifacts: (artifacts ?? []).map(artifactOf),
    history: (history ?? []).map(messageOfSdk),
    ...defined({ metadata }),
  };
}

function statusOf(status: TaskStatus | undefined): RemoteStatus {
  return {
    state: status === undefined ? "unknown" : (STATES[status.state] ?? "unknown"),
    ...(status?.message && { message: messageOfSdk(status.message) }),
    ...(status?.timestamp && { timestamp: status.timestamp }),
  };
}

const ROLES: Partial<Record<Role, "user">> = { 1: "user" };

/** Maps the protocol's numbers to states. */
const STATES: Partial<Record<TaskState, RemoteState>> = {
  1: "submitted",
  2: "working",
  3: "completed",
  4: "failed",
  5: "canceled",
  6: "input-required",
  7: "rejected",
  8: "auth-required",
};

const artifactOf = ({ artifactId, name, parts }: Artifact): RemoteArtifact => ({
  artifactId,
  ...(name && { name }),
  parts: parts.flatMap(partOf),
});

function messageOfSdk({ messageId, role, parts, contextId, taskId }: Message): RemoteMessage {
  return {
    kind: "message",
    messageId,
    role: ROLES[role] ?? "agent",
    parts: parts.flatMap(partOf),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
  };
}

function partOf({ content, filename, mediaType }: Part): RemotePart[] {
  const file = { ...(filename && { name: filename }), ...(mediaType && { mimeType: mediaType }) };
  switch (content?.$case) {
    case "text":
      return [{ kind: "text", text: content.value }];
    case "data":
      return [{ kind: "data", data: content.value as unknown }];
    case "url":
      return [{ kind: "file", file: { ...file, uri: content.value } }];
    case "raw":
      return [{ kind: "file", file: { ...file, bytes: Buffer.from(content.value).toString("base64") } }];
    case undefined:
      return [];
  }
}

export type { AgentCard };
