import type { AgentCard, StreamResponse, TaskPushNotificationConfig } from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { z } from "zod";
import type { RemoteUpdate } from "../core/net/a2a.ts";
import { CrewError, messageOf } from "../core/schema/error.ts";
import type { Card } from "./card.ts";
import type { Push, PushConfig, WritePush } from "./push.ts";
import { isTaskError, type TaskErrorCode } from "./task-error.ts";
import type { Tasks, TaskOwner } from "./tasks.ts";
import { hasState, messageIn, pushOf, responseOf, taskOf } from "./wire.ts";
import { isDeeplyNested, isRecord, TOO_DEEP_JSON } from "../core/text/json.ts";

type Answer = Readonly<Record<string, unknown>>;

/** The response to one request: a single answer or a stream. */
export type RpcReply = Answer | AsyncGenerator<Answer, void>;

/** The A2A protocol for the tasks of a server, in both of its versions. */
export type Protocol = Readonly<{
  /** Answers one JSON-RPC request of an A2A client. */
  handle(
    body: string,
    request: Readonly<{ who: TaskOwner; version: string | undefined; card: Card }>,
  ): Promise<RpcReply>;
  /** The agent card in the format of that protocol version. */
  card(card: Card, version: string | undefined): unknown;
  writePush: WritePush;
}>;

type Sdk = Awaited<ReturnType<typeof load>>;

/** Loads the A2A library, which parses and writes messages, and connects it to the server's tasks. */
export async function loadProtocol(parts: Readonly<{ tasks(): Tasks; push(): Push }>): Promise<Protocol> {
  const sdk = await load();
  return {
    handle: async (body, { who, version, card }) => {
      const request = parsed(body);
      if (isDeeplyNested(request)) {
        const message = `The request is ${TOO_DEEP_JSON}. Send flatter data.`;
        return { jsonrpc: "2.0", id: idIn(request), error: { code: -32600, message } };
      }
      const wrong = wrongField(request);
      if (wrong !== undefined) {
        const message = `The request is not valid: ${wrong} has the wrong type.`;
        return { jsonrpc: "2.0", id: idIn(request), error: { code: -32602, message } };
      }
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
        id: idIn(request),
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

/** Waits for the first item of a stream. If it fails, the response is a single error instead of a stream. */
async function begun(stream: AsyncGenerator<Answer, void>, broken: (error: unknown) => Answer): Promise<RpcReply> {
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

function idIn(request: unknown): string | number | null {
  const id = isRecord(request) ? request["id"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // the body is not JSON; the A2A library answers such a request with an error
  }
}

/** The fields of a request whose types the A2A library does not check, in both versions of the A2A protocol. */
const words = z.string().nullish();
const fields = z.looseObject({
  params: z
    .looseObject({
      id: words,
      taskId: words,
      contextId: words,
      message: z
        .looseObject({
          contextId: words,
          taskId: words,
          parts: z
            .array(
              z.looseObject({
                text: words,
                raw: words,
                url: words,
                filename: words,
                mediaType: words,
                file: z.looseObject({ name: words, mimeType: words, bytes: words, uri: words }).optional(),
              }),
            )
            .optional(),
        })
        .optional(),
    })
    .optional(),
});

/** The first field whose type violates the protocol, as a path. */
function wrongField(request: unknown): string | undefined {
  if (request === undefined) return undefined;
  // The library itself answers requests whose parameters are not an object.
  const checked = fields.safeParse(isRecord(request) && !isRecord(request["params"]) ? {} : request);
  return checked.success ? undefined : checked.error.issues[0]!.path.join(".") || "the body";
}

/** A request without a version uses the old protocol, unless its method exists only in the new protocol. */
function versionOf(sdk: Sdk, body: string, given: string | undefined): "1.0" | "0.3" {
  if (given !== undefined && given !== "") return given.startsWith("0.") ? "0.3" : "1.0";
  const method = /"method"\s*:\s*"([^"]{1,100})"/.exec(body)?.[1];
  return sdk.compat.isV1JsonRpcMethod(method) ? "1.0" : "0.3";
}

type Asked = Readonly<{ tasks(): Tasks; push(): Push; who: TaskOwner; card: Card; version: "1.0" | "0.3" }>;

function handlerFor(sdk: Sdk, { tasks, push, who, card, version }: Asked): A2ARequestHandler {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw errorOf(sdk, error);
    }
  };
  const own = (id: string): Promise<string> => tasks().own(who, id);
  const register = async (
    id: string,
    wanted: TaskPushNotificationConfig | undefined,
  ): Promise<PushConfig | undefined> =>
    wanted?.url
      ? push().set(await own(id), {
          url: wanted.url,
          version,
          ...(wanted.id && { id: wanted.id }),
          ...(wanted.token && { token: wanted.token }),
          ...(wanted.authentication?.scheme && {
            authentication: { scheme: wanted.authentication.scheme, credentials: wanted.authentication.credentials },
          }),
        })
      : undefined;
  const configsOf = async (id: string): Promise<readonly PushConfig[]> => push().list(await own(id));
  const stream = async function* (
    updates: AsyncIterable<RemoteUpdate>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const update of updates) yield responseOf(update);
  };
  return {
    getAgentCard: async () => cardOf(card),
    getAuthenticatedExtendedAgentCard: async () => {
      throw new sdk.errors.ExtendedAgentCardNotConfiguredError("This server has no extended agent card.");
    },
    sendMessage: ({ message, configuration }) =>
      guarded(async () => {
        const served = await tasks().send(who, messageIn(message), (id) =>
          register(id, configuration?.taskPushNotificationConfig),
        );
        if (!configuration?.returnImmediately) await served.settled();
        return taskOf(served.view(), configuration?.historyLength);
      }),
    sendMessageStream: async function* ({ message, configuration }) {
      const asked = messageIn(message);
      const served = await guarded(() =>
        tasks().send(who, asked, (id) => register(id, configuration?.taskPushNotificationConfig)),
      );
      yield* stream(served.updates(asked.taskId === undefined ? 0 : undefined));
    },
    getTask: ({ id, historyLength }) => guarded(async () => taskOf(await tasks().get(who, id), historyLength)),
    listTasks: ({ contextId, status, pageSize = 50, pageToken, historyLength, includeArtifacts }) =>
      guarded(async () => {
        const all = (await tasks().list(who)).filter(
          (task) => (!contextId || task.contextId === contextId) && (!status || hasState(task, status)),
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
        if (!found) throw new sdk.errors.TaskNotFoundError("The push configuration does not exist.");
        return pushOf(found, taskId);
      }),
    listTaskPushNotificationConfigs: ({ taskId }) =>
      guarded(async () => ({
        configs: (await configsOf(taskId)).map((each) => pushOf(each, taskId)),
        nextPageToken: "",
      })),
    deleteTaskPushNotificationConfig: ({ taskId, id }) => guarded(async () => push().remove(await own(taskId), id)),
  };
}

/** Converts an error to the protocol's format; internal errors are not revealed. */
function errorOf({ errors }: Sdk, error: unknown): Error {
  if (!isTaskError(error)) return error instanceof errors.A2AError ? error : new Error("Internal error.");
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
      `Serving agents over A2A needs the package @a2a-js/sdk, which cannot be loaded: ${messageOf(cause)}`,
      "Install the package: npm install @a2a-js/sdk",
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

/** Converts a card for clients of the old version. */
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
