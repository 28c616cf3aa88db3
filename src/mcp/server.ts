import { z } from "zod";
import { isCrewError } from "../core/schema/error.ts";
import { isRecord } from "../core/text/json.ts";
import type { State } from "../core/run/state.ts";
import { formsFor, hasForms } from "./ask.ts";
import { askOverConnection } from "./connection-forms.ts";
import { boundText, MAX_CHARS, outputPlaces } from "./result/bound.ts";
import { type DelegatedCall, delegated } from "./delegated.ts";
import { offerNamed } from "./offers.ts";
import { servePrompts } from "./prompts.ts";
import { serveResources } from "./resources.ts";
import type { DelegatingTool, Offer, StartingTool } from "./offer.ts";
import { factsOf, type McpTask, type ServerContext } from "./server-context.ts";
import type { McpRun, WaitedRun } from "./runs.ts";
import type { CallContext, CallResult, Capabilities, Era, NeedsInput, ProtocolServer, Sdk } from "./sdk.ts";
import { serverFace, TASKS_EXTENSION } from "./start/server-face.ts";
import { untilStarted, next, stay, takeReplies, whileCalled } from "./stay.ts";
import { legacyTask, modernTask, RELATED_TASK } from "./tasks.ts";
import { callResultOf } from "./call-result.ts";
import { viewOf } from "./result/view.ts";

/** The parts that all connections of a server share. */
export type SharedServer = Readonly<{
  sdk: Sdk;
  office: ServerContext;
  /** The tools that a client can call at this moment. */
  offers(): Promise<readonly Offer[]>;
  /** Receives internal errors. A client only learns that there was an error. */
  onError(error: unknown): void;
}>;

/**
 * A server for one connection, or for one request over HTTP. Runs belong to the context that all connections share, so
 * they outlive the connection.
 */
export function createServer(serving: SharedServer, era: Era): ProtocolServer {
  const { sdk } = serving;
  const server = new sdk.Server(serverFace.info, {
    capabilities: serverFace.capabilities,
    instructions: serverFace.instructions,
  });
  Object.assign(server, { onerror: serving.onError });
  server.setRequestHandler("tools/list", async () => ({ tools: (await serving.offers()).map(listed) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const offer = offerNamed(params.name, await serving.offers());
    if (!offer) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool "${params.name}".`);
    const args = params.arguments ?? {};
    try {
      if ("answer" in offer) return await offer.answer(args, serving.office, context.mcpReq.signal);
      const client = capabilitiesOf(server, context);
      if ("delegate" in offer) return await delegateOrGoOn({ ...serving, server, offer, args, context, client, era });
      const task = isRecord(params["task"]);
      return (await startOrGoOn({ ...serving, server, offer, args, context, client, era, task })) as CallResult;
    } catch (thrown) {
      return failure(thrown, serving);
    }
  });
  servePrompts(server, sdk, serving.office.crew);
  serveResources(server, sdk, serving.office);
  serveTasks(server, serving, era);
  return server;
}

const listed = (offer: Offer) => ({
  name: offer.name,
  description: offer.description,
  inputSchema: { ...offer.input(), type: "object" as const },
  ...(offer.output && { outputSchema: { ...offer.output(), type: "object" as const } }),
  annotations: {
    readOnlyHint: offer.readOnly,
    ...(!offer.readOnly && { destructiveHint: offer.openWorld }),
    openWorldHint: offer.openWorld,
  },
  ...("plan" in offer && { execution: { taskSupport: "optional" as const } }),
});

type Call = SharedServer &
  Readonly<{
    offer: StartingTool;
    args: Readonly<Record<string, unknown>>;
    context: CallContext;
    client: Capabilities;
    era: Era;
    server: ProtocolServer;
    /** True when a client with the earlier protocol asks to run the call as an MCP task. */
    task: boolean;
  }>;

/** Starts a run, or continues a run that waits for an answer of the client. */
async function startOrGoOn(call: Call): Promise<CallResult | NeedsInput | Record<string, unknown>> {
  const { office, offer, args, context, client, era, sdk, server } = call;
  const { requestState, inputResponses = {} } = context.mcpReq;
  const known = requestState<string>();
  if (known !== undefined) {
    const served = office.runs.find(known);
    if (!served) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "The run no longer exists.");
    return (await takeReplies(served, inputResponses)) ? waitFor(served, call) : shown(served, office);
  }
  const served = await office.start(await offer.plan(args));
  const wantsTask = era === "legacy" ? call.task : client.extensions?.[TASKS_EXTENSION] !== undefined;
  if (wantsTask || !offer.waits(args)) {
    await untilStarted(served);
    if (!offer.waits(args)) return shown(served, office);
    // A client must know an MCP task before questions about it can be sent, so a new task is always "working", even if
    // its run already has a question.
    const created = { ...factsOf(served), life: "running" as const };
    if (era !== "legacy") return { resultType: "task", ...modernTask(created) };
    setImmediate(() => void askOnTheWay(served, server).catch(call.onError));
    return { content: [], task: legacyTask(created) };
  }
  return waitFor(served, call);
}

type DelegatingCall = Omit<Call, "offer" | "task"> & Readonly<{ offer: DelegatingTool }>;

/** Calls a tool that starts runs by itself. Its runs continue when the call returns with open questions. */
async function delegateOrGoOn(asked: DelegatingCall): Promise<CallResult | NeedsInput> {
  const { sdk, office, offer, args, context } = asked;
  const { requestState, inputResponses = {} } = context.mcpReq;
  const known = requestState<string>();
  const call =
    known === undefined ? delegated(office.runs, (told) => offer.delegate(args, told)) : office.delegations.get(known);
  if (!call) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "The tool call is no longer active.");
  const answered = await takeReplies(call, inputResponses);
  const stayed = answered ? await stayOrAsk(call, asked) : LEFT;
  if ("forms" in stayed) {
    office.delegations.set(call.id, call);
    return stayed.forms;
  }
  office.delegations.delete(call.id);
  if ("parked" in stayed) {
    const { content } = await callResultOf(viewOf(stayed.parked, "parked", Date.now()), office.outputFile);
    return { content };
  }
  if ("left" in stayed) {
    const waiting = await Promise.all(call.runs().map((served) => shown(served, office)));
    return { content: waiting.flatMap(({ content }) => content) };
  }
  const { text, error = false } = await call.over;
  return {
    content: [{ type: "text", text: await boundDelegated(text, call, office) }],
    ...(error && { isError: true }),
  };
}

/** The text of a delegation tool, with the places of the whole results of the runs that it started. */
async function boundDelegated(text: string, call: DelegatedCall, { outputFile }: ServerContext): Promise<string> {
  if (text.length <= MAX_CHARS) return text;
  const places = call.started().map((run) => outputPlaces({ run, path: "" }, outputFile));
  return boundText(text, (await Promise.all(places)).flat().slice(0, MOST_PLACES));
}

/** How many places of results a text names. */
const MOST_PLACES = 10;

async function waitFor(served: McpRun, call: Call): Promise<CallResult | NeedsInput> {
  const stayed = await stayOrAsk(served, call);
  if ("forms" in stayed) return stayed.forms;
  return shown(served, call.office, "over" in stayed ? call.offer.told : undefined);
}

/**
 * Why a call returns: the run ended, it is parked (waits for a provider) and the client cannot change that, its
 * questions were left for the inbox, or the client gets forms.
 */
type Stayed = Readonly<{ over: true } | { parked: State } | { left: true } | { forms: NeedsInput }>;
const LEFT: Stayed = { left: true };

/**
 * Waits for the end of a run and passes its questions to the client. Clients with a protocol version of 2025 are asked
 * over the open connection; newer clients get the forms and repeat the tool call with the answers. A client without
 * forms is told at once what is asked.
 */
function stayOrAsk(
  served: WaitedRun,
  { context, client, era, sdk, server }: Omit<Call, "offer" | "task">,
): Promise<Stayed> {
  return whileCalled(served, context, async () => {
    for (;;) {
      const stayed = await stay(served, context);
      if (stayed.over) return { over: true };
      if (stayed.parked) return { parked: stayed.parked };
      if (!hasForms(client)) return LEFT;
      if (era !== "legacy") {
        const inputRequests = formsFor(stayed.asked);
        return { forms: sdk.inputRequired({ inputRequests, requestState: served.id }) };
      }
      if (!(await askOverConnection(served, stayed.asked, server, { call: context }))) return LEFT;
    }
  });
}

function shown(served: McpRun, { outputFile }: ServerContext, told?: StartingTool["told"]): Promise<CallResult> {
  return callResultOf(viewOf(served.run.state, served.life(), Date.now()), outputFile, told);
}

const taskParams = z.looseObject({ taskId: z.string() });

/** Handles MCP tasks in both revisions of the protocol, since most clients use the earlier revision. */
function serveTasks(server: ProtocolServer, { office, sdk }: SharedServer, era: Era): void {
  const find = async (id: string): Promise<McpTask> => {
    try {
      return await office.task(id);
    } catch (error) {
      if (!isCrewError(error) || error.code !== "UNKNOWN_RUN") throw error;
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `The task "${id}" does not exist.`);
    }
  };
  server.setRequestHandler("tasks/get", { params: taskParams }, async ({ taskId }) => {
    const { facts, view, questions } = await find(taskId);
    if (era === "legacy") return legacyTask(facts);
    return modernTask(facts, { result: await callResultOf(view, office.outputFile), questions: formsFor(questions()) });
  });
  server.setRequestHandler("tasks/update", { params: taskParams }, async ({ taskId }, { mcpReq }) => {
    await takeReplies(await find(taskId), mcpReq.inputResponses ?? {});
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: taskParams }, async ({ taskId }, { mcpReq }) => {
    const task = await find(taskId);
    await task.cancel("cancelled by the MCP client");
    if (era !== "legacy") return {};
    await task.ended(mcpReq.signal);
    return legacyTask((await find(taskId)).facts);
  });
  if (era !== "legacy") return;
  server.setRequestHandler("tasks/list", { params: z.looseObject({}) }, async () => ({
    tasks: (await office.tasks()).map(legacyTask),
  }));
  server.setRequestHandler("tasks/result", { params: taskParams }, async ({ taskId }, { mcpReq }) => {
    await (await find(taskId)).ended(mcpReq.signal); // the task continues when the client stops polling
    const result = await callResultOf((await find(taskId)).view, office.outputFile);
    return { ...result, _meta: { [RELATED_TASK]: { taskId } } };
  });
}

/** Asks a client with a protocol version of 2025 the questions of its MCP task, while the client polls. */
async function askOnTheWay(served: McpRun, server: ProtocolServer): Promise<void> {
  if (!hasForms(server.getClientCapabilities() ?? {})) return;
  for (let stayed = await next(served); !stayed.over; stayed = await next(served))
    await askOverConnection(served, stayed.asked, server, { task: served.id });
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/**
 * The capabilities of the client: sent with each request in the newest protocol, and once at the beginning in earlier
 * protocols.
 */
function capabilitiesOf(server: ProtocolServer, { mcpReq }: CallContext): Capabilities {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const said = envelope[CAPABILITIES];
  return isRecord(said) ? said : (server.getClientCapabilities() ?? {});
}

/** Converts an error to a tool result. Errors of the caller keep their hint; internal errors are not exposed. */
function failure(thrown: unknown, { sdk, onError }: Pick<SharedServer, "sdk" | "onError">): CallResult {
  if (thrown instanceof sdk.ProtocolError) throw thrown;
  if (isCrewError(thrown))
    return {
      content: [{ type: "text", text: `${thrown.code}: ${thrown.message} ${thrown.hint}`.trimEnd() }],
      isError: true,
    };
  onError(thrown);
  return {
    content: [
      { type: "text", text: "subcrew failed with an internal error. The error output of the server has the details." },
    ],
    isError: true,
  };
}
