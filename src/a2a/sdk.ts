import type {
  AgentCard,
  Artifact,
  Message,
  Part,
  Role,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskState,
  TaskStatus,
} from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { CrewError, messageOf } from "../core/error.ts";
import type {
  RemoteArtifact,
  RemoteMessage,
  RemotePart,
  RemoteState,
  RemoteStatus,
  RemoteTask,
  RemoteUpdate,
} from "../core/remote.ts";
import type { Card } from "./card.ts";
import type { Push, PushConfig, WritePush } from "./push.ts";
import { isTaskError, type TaskErrorCode } from "./task-error.ts";
import type { Tasks, Who } from "./tasks.ts";

type Answer = Readonly<Record<string, unknown>>;

/** What one request may be answered with. */
export type Reply = Answer | AsyncGenerator<Answer, void>;

/** The protocol over the tasks of a server, in both of its versions. */
export type Protocol = Readonly<{
  /** Answers one JSON-RPC request. */
  handle(body: string, request: Readonly<{ who: Who; version: string | undefined; card: Card }>): Promise<Reply>;
  /** The card as that version has it. */
  card(card: Card, version: string | undefined): unknown;
  writePush: WritePush;
}>;

type Sdk = Awaited<ReturnType<typeof load>>;

/** The protocol's own library does the reading and writing; what it means is ours. */
export async function loadProtocol(parts: Readonly<{ tasks(): Tasks; push(): Push }>): Promise<Protocol> {
  const sdk = await load();
  return {
    handle: async (body, { who, version, card }) => {
      const requested = versionOf(sdk, body, version);
      const handler = handlerFor(sdk, { ...parts, who, card, version: requested });
      const context = new sdk.server.ServerCallContext({ requestedVersion: requested });
      const transport =
        requested === "0.3"
          ? new sdk.compatServer.LegacyJsonRpcTransportHandler(handler)
          : new sdk.server.JsonRpcTransportHandler(handler);
      const reply = await transport.handle(body, context);
      if (!(Symbol.asyncIterator in reply)) return reply;
      const mapped =
        requested === "0.3"
          ? sdk.compatServer.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
          : sdk.server.JsonRpcTransportHandler.mapToJSONRPCError;
      return begun(reply as AsyncGenerator<Answer, void>, (error) => ({
        jsonrpc: "2.0",
        id: idIn(body),
        error: mapped(error),
      }));
    },
    card: (card, version) => (version?.startsWith("1") ? sdk.core.AgentCard.toJSON(cardOf(card)) : oldCardOf(card)),
    writePush: async (update, version) => {
      const serializer =
        version === "0.3"
          ? new sdk.compatServer.V03PushNotificationSerializer()
          : new sdk.server.V1PushNotificationSerializer();
      return serializer.serialize(responseOf(update));
    },
  };
}

/** A stream that has begun; one that cannot is a plain answer that says why. */
async function begun(stream: AsyncGenerator<Answer, void>, broken: (error: unknown) => Answer): Promise<Reply> {
  let first: IteratorResult<Answer, void>;
  try {
    first = await stream.next();
  } catch (error) {
    return broken(error);
  }
  return (async function* (): AsyncGenerator<Answer, void> {
    try {
      if (!first.done) yield first.value;
      yield* stream;
    } catch (error) {
      yield broken(error);
    } finally {
      await stream.return();
    }
  })();
}

function idIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { id?: unknown }).id ?? null;
  } catch {
    return null;
  }
}

/** Who says nothing speaks the old version, unless the method is one of the new. */
function versionOf(sdk: Sdk, body: string, given: string | undefined): "1.0" | "0.3" {
  if (given !== undefined && given !== "") return given.startsWith("0.") ? "0.3" : "1.0";
  const method = /"method"\s*:\s*"([^"]{1,100})"/.exec(body)?.[1];
  return sdk.compat.isV1JsonRpcMethod(method) ? "1.0" : "0.3";
}

type Asked = Readonly<{ tasks(): Tasks; push(): Push; who: Who; card: Card; version: "1.0" | "0.3" }>;

function handlerFor(sdk: Sdk, { tasks, push, who, card, version }: Asked): A2ARequestHandler {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw errorOf(sdk, error);
    }
  };
  const folder = (id: string): Promise<string> => tasks().folder(who, id);
  const register = async (
    id: string,
    wanted: TaskPushNotificationConfig | undefined,
  ): Promise<PushConfig | undefined> =>
    wanted?.url
      ? push().set(await folder(id), {
          url: wanted.url,
          version,
          ...(wanted.id && { id: wanted.id }),
          ...(wanted.token && { token: wanted.token }),
          ...(wanted.authentication?.scheme && {
            authentication: { scheme: wanted.authentication.scheme, credentials: wanted.authentication.credentials },
          }),
        })
      : undefined;
  const configsOf = async (id: string): Promise<readonly PushConfig[]> => push().list(await folder(id));
  const stream = async function* (
    updates: AsyncIterable<RemoteUpdate>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const update of updates) yield responseOf(update);
  };
  return {
    getAgentCard: async () => cardOf(card),
    getAuthenticatedExtendedAgentCard: async () => {
      throw new sdk.errors.ExtendedAgentCardNotConfiguredError("There is no other card.");
    },
    sendMessage: ({ message, configuration }) =>
      guarded(async () => {
        const served = await tasks().send(who, messageIn(message));
        await register(served.run.id, configuration?.taskPushNotificationConfig);
        if (!configuration?.returnImmediately) await served.settled();
        return taskOf(served.view(), configuration?.historyLength);
      }),
    sendMessageStream: async function* ({ message, configuration }) {
      const asked = messageIn(message);
      const served = await guarded(() => tasks().send(who, asked));
      await guarded(() => register(served.run.id, configuration?.taskPushNotificationConfig));
      yield* stream(served.updates(asked.taskId === undefined ? 0 : undefined));
    },
    getTask: ({ id, historyLength }) => guarded(async () => taskOf(await tasks().get(who, id), historyLength)),
    listTasks: ({ contextId, status, pageSize = 50, pageToken, historyLength, includeArtifacts }) =>
      guarded(async () => {
        const all = (await tasks().list(who)).filter(
          (task) =>
            (!contextId || task.contextId === contextId) && (!status || NUMBERS[task.status.state] === Number(status)),
        );
        const size = Math.min(Math.max(1, pageSize), 100);
        const from = Math.max(0, Number(pageToken) || 0);
        const page = all
          .slice(from, from + size)
          .map((task) => taskOf(includeArtifacts ? task : { ...task, artifacts: [] }, historyLength));
        return {
          tasks: page,
          pageSize: size,
          totalSize: all.length,
          nextPageToken: from + size < all.length ? String(from + size) : "",
        };
      }),
    cancelTask: ({ id }) => guarded(async () => taskOf(await tasks().cancel(who, id))),
    resubscribe: async function* ({ id }) {
      yield* stream(await guarded(() => tasks().follow(who, id)));
    },
    createTaskPushNotificationConfig: (wanted) =>
      guarded(async () => {
        const made = await register(wanted.taskId, wanted);
        if (!made) throw new sdk.errors.RequestMalformedError("The push configuration has no url.");
        return pushOf(made, wanted.taskId);
      }),
    getTaskPushNotificationConfig: ({ taskId, id }) =>
      guarded(async () => {
        const found = (await configsOf(taskId)).find((each) => !id || each.id === id || id === taskId);
        if (!found) throw new sdk.errors.TaskNotFoundError("There is no such push configuration.");
        return pushOf(found, taskId);
      }),
    listTaskPushNotificationConfigs: ({ taskId }) =>
      guarded(async () => ({
        configs: (await configsOf(taskId)).map((each) => pushOf(each, taskId)),
        nextPageToken: "",
      })),
    deleteTaskPushNotificationConfig: ({ taskId, id }) => guarded(async () => push().remove(await folder(taskId), id)),
  };
}

/** The same in the words of the protocol; what is no answer to the caller stays here. */
function errorOf({ errors }: Sdk, error: unknown): Error {
  if (!isTaskError(error)) return error instanceof errors.A2AError ? error : new Error("Something went wrong inside.");
  const made: Readonly<Record<TaskErrorCode, (message: string) => Error>> = {
    "not-found": (message) => new errors.TaskNotFoundError(message),
    "not-cancelable": (message) => new errors.TaskNotCancelableError(message),
    unsupported: (message) => new errors.UnsupportedOperationError(message),
    "bad-request": (message) => new errors.RequestMalformedError(message),
    "bad-address": (message) => new errors.RequestMalformedError(message),
    busy: (message) => new errors.UnsupportedOperationError(message),
    broken: (message) => new Error(message),
  };
  return made[error.code](error.message);
}

async function load() {
  try {
    const [core, server, errors, compat, compatServer] = await Promise.all([
      import("@a2a-js/sdk"),
      import("@a2a-js/sdk/server"),
      import("@a2a-js/sdk/errors"),
      import("@a2a-js/sdk/compat/v0_3"),
      import("@a2a-js/sdk/compat/v0_3/server"),
    ]);
    return { core, server, errors, compat, compatServer };
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      `Serving agents over A2A needs the package @a2a-js/sdk, which is not there: ${messageOf(cause)}`,
      "Install it: npm install @a2a-js/sdk",
      { cause },
    );
  }
}

function cardOf({ name, description, url, version, needsToken }: Card): AgentCard {
  return {
    name,
    description,
    version,
    supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => ({
      url,
      protocolBinding: "JSONRPC",
      tenant: "",
      protocolVersion,
    })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: true, extensions: [] },
    securitySchemes: needsToken
      ? {
          token: {
            scheme: { $case: "httpAuthSecurityScheme", value: { description: "", scheme: "Bearer", bearerFormat: "" } },
          },
        }
      : {},
    securityRequirements: needsToken ? [{ schemes: { token: { list: [] } } }] : [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [skillOf({ name, description })].map((skill) => ({
      ...skill,
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    })),
    signatures: [],
  };
}

/** As clients of the old version read it. */
function oldCardOf({ name, description, url, version, needsToken }: Card): unknown {
  return {
    protocolVersion: "0.3.0",
    name,
    description,
    version,
    url,
    preferredTransport: "JSONRPC",
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [skillOf({ name, description })],
    ...(needsToken && { securitySchemes: { token: { type: "http", scheme: "bearer" } }, security: [{ token: [] }] }),
  };
}

const skillOf = ({ name, description }: Pick<Card, "name" | "description">) => ({
  id: name,
  name,
  description,
  tags: ["subagent"],
  examples: [],
});

function messageIn(message: Message | undefined): RemoteMessage {
  const { messageId = "", contextId, taskId, parts = [] } = message ?? {};
  return {
    kind: "message",
    messageId,
    role: "user",
    parts: parts.flatMap(partIn),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
  };
}

/** Files are named, never fetched; the text of one that came along is read. */
function partIn({ content, filename, mediaType }: Part): RemotePart[] {
  const file = filename ? { name: filename } : {};
  switch (content?.$case) {
    case "text":
      return [{ kind: "text", text: content.value }];
    case "data":
      return [{ kind: "data", data: content.value as unknown }];
    case "url":
      return [{ kind: "file", file: { ...file, uri: content.value } }];
    case "raw":
      return /^text\/|json$/.test(mediaType)
        ? [{ kind: "text", text: Buffer.from(content.value).toString("utf8") }]
        : [{ kind: "file", file: { ...file, bytes: "" } }];
    case undefined:
      return [];
  }
}

function responseOf(update: RemoteUpdate): StreamResponse {
  switch (update.kind) {
    case "message":
      return { payload: { $case: "message", value: messageOfOurs(update) } };
    case "task":
      return { payload: { $case: "task", value: taskOf(update) } };
    case "status-update": {
      const { taskId, contextId, status, metadata } = update;
      return {
        payload: {
          $case: "statusUpdate",
          value: { taskId, contextId, status: statusOf(status), metadata: metadata && { ...metadata } },
        },
      };
    }
    case "artifact-update": {
      const { taskId, contextId, artifact, append = false, lastChunk = false } = update;
      return {
        payload: {
          $case: "artifactUpdate",
          value: { taskId, contextId, artifact: artifactOf(artifact), append, lastChunk, metadata: undefined },
        },
      };
    }
  }
}

function taskOf({ id, contextId, status, artifacts = [], history = [], metadata }: RemoteTask, length?: number): Task {
  const shown = length === undefined ? history : length === 0 ? [] : history.slice(-length);
  return {
    id,
    contextId,
    status: statusOf(status),
    artifacts: artifacts.map(artifactOf),
    history: shown.map(messageOfOurs),
    metadata: metadata && { ...metadata },
  };
}

function statusOf({ state, message, timestamp }: RemoteStatus): TaskStatus {
  return { state: NUMBERS[state] as TaskState, message: message && messageOfOurs(message), timestamp };
}

/** The numbers that the protocol gives to states. */
const NUMBERS: Readonly<Record<RemoteState, number>> = {
  unknown: 0,
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  "input-required": 6,
  rejected: 7,
  "auth-required": 8,
};

function messageOfOurs({ messageId, role, parts, contextId = "", taskId = "" }: RemoteMessage): Message {
  return {
    messageId,
    contextId,
    taskId,
    role: (role === "user" ? 1 : 2) as Role,
    parts: parts.map(partOf),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

const artifactOf = ({ artifactId, name = "", parts }: RemoteArtifact): Artifact => ({
  artifactId,
  name,
  description: "",
  parts: parts.map(partOf),
  metadata: undefined,
  extensions: [],
});

function partOf(part: RemotePart): Part {
  const base = { metadata: undefined, filename: "", mediaType: "" };
  switch (part.kind) {
    case "text":
      return { ...base, content: { $case: "text", value: part.text }, mediaType: "text/plain" };
    case "data":
      return { ...base, content: { $case: "data", value: part.data }, mediaType: "application/json" };
    case "file":
      return { ...base, content: { $case: "url", value: part.file.uri ?? "" }, filename: part.file.name ?? "" };
  }
}

function pushOf({ id, url, token = "", authentication }: PushConfig, taskId: string): TaskPushNotificationConfig {
  return { tenant: "", id, taskId, url, token, authentication: authentication && { ...authentication } };
}
