import { z } from "zod";
import { isCrewError } from "../core/schema/error.ts";
import { isRecord } from "../core/text/json.ts";
import { version } from "../core/text/version.ts";
import { prompts } from "../embedded.ts";
import { doingOf } from "../sinks/status-text.ts";
import { delegated } from "./delegated.ts";
import type { DelegatingTool, Offer, StartingTool } from "./offer.ts";
import type { ServerContext } from "./server-context.ts";
import type { McpRun } from "./runs.ts";
import type { CallContext, CallResult, Capabilities, Era, NeedsInput, ProtocolServer, Sdk } from "./sdk.ts";
import { untilStarted, next, questionForms, stay, takeReplies } from "./stay.ts";
import { legacyTask, modernTask, RELATED_TASK, TASKS_EXTENSION, type TaskFacts } from "./tasks.ts";
import { callResultOf, viewOf } from "./view.ts";

/** What every connection of a server shares. */
export type SharedServer = Readonly<{
  sdk: Sdk;
  office: ServerContext;
  /** What is offered right now. */
  offers(): Promise<readonly Offer[]>;
  /** Receives internal errors; a client only learns that there was one. */
  onError(error: unknown): void;
}>;

/** A server for one connection, or for one request over HTTP. Runs belong to the office, so they outlive it. */
export function createServer(serving: SharedServer, era: Era): ProtocolServer {
  const { sdk } = serving;
  const server = new sdk.Server(
    { name: "subcrew", version },
    {
      capabilities: {
        tools: {},
        extensions: { [TASKS_EXTENSION]: {} },
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
      instructions: prompts.mcpInstructions,
      inputRequired: { maxRounds: MOST_ROUNDS, roundTimeoutMs: ROUND_MS },
    },
  );
  Object.assign(server, { onerror: serving.onError });
  server.setRequestHandler("tools/list", async () => ({ tools: (await serving.offers()).map(listed) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const offer = (await serving.offers()).find(({ name }) => name === params.name);
    if (!offer) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool "${params.name}".`);
    const args = params.arguments ?? {};
    try {
      if ("answer" in offer) return await offer.answer(args, serving.office, context.mcpReq.signal);
      const client = capabilitiesOf(server, context);
      if ("delegate" in offer) return await delegateOrGoOn({ ...serving, offer, args, context, client });
      const task = isRecord(params["task"]);
      return (await startOrGoOn({ ...serving, server, offer, args, context, client, era, task })) as CallResult;
    } catch (thrown) {
      return failure(thrown, serving);
    }
  });
  serveTasks(server, serving, era);
  return server;
}

/** A person may take hours for one form, and a run may have many. */
const MOST_ROUNDS = 10_000;
const ROUND_MS = 86_400_000;

const listed = (offer: Offer) => ({
  name: offer.name,
  description: offer.description,
  inputSchema: { ...offer.input, type: "object" as const },
  ...(offer.output && { outputSchema: { ...offer.output, type: "object" as const } }),
  annotations: {
    readOnlyHint: offer.readOnly,
    ...(!offer.readOnly && { destructiveHint: false, openWorldHint: true }),
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
    /** A client of the earlier protocol that wants a task. */
    task: boolean;
  }>;

/** Starts a run, or continues one that waits for an answer of its client. */
async function startOrGoOn(call: Call): Promise<CallResult | NeedsInput | Record<string, unknown>> {
  const { office, offer, args, context, client, era, sdk, server } = call;
  const { requestState, inputResponses = {} } = context.mcpReq;
  const known = requestState<string>();
  if (known !== undefined) {
    const served = office.runs.find(known);
    if (!served) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "The run no longer exists.");
    await takeReplies(served, inputResponses);
    return waitFor(served, call);
  }
  const served = office.start(await offer.plan(args));
  const wantsTask = era === "legacy" ? call.task : client.extensions?.[TASKS_EXTENSION] !== undefined;
  if (wantsTask || !offer.waits(args)) {
    await untilStarted(served);
    if (!offer.waits(args)) return shown(served);
    if (era !== "legacy") return { resultType: "task", ...modernTask(factsOf(served)) };
    askOnTheWay(served, server).catch(call.onError);
    return { content: [], task: legacyTask(factsOf(served)) };
  }
  return waitFor(served, call);
}

type DelegatedCall = Pick<Call, "sdk" | "office" | "args" | "context" | "client"> & Readonly<{ offer: DelegatingTool }>;

/** The same for a tool that starts runs by itself. Questions to a client that cannot be asked wait in the inbox. */
async function delegateOrGoOn({
  sdk,
  office,
  offer,
  args,
  context,
  client,
}: DelegatedCall): Promise<CallResult | NeedsInput> {
  const { requestState, inputResponses = {} } = context.mcpReq;
  const known = requestState<string>();
  const call =
    known === undefined ? delegated(office.runs, (told) => offer.delegate(args, told)) : office.delegations.get(known);
  if (!call) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, "The call is no longer active.");
  await takeReplies(call, inputResponses);
  const stayed = client.elicitation === undefined ? await stay(call, context, "over") : await stay(call, context);
  if (!stayed.over && stayed.parked)
    return { content: callResultOf(viewOf(stayed.parked, "parked", Date.now())).content };
  if (!stayed.over) {
    office.delegations.set(call.id, call);
    return sdk.inputRequired({ inputRequests: questionForms(call, stayed.asked), requestState: call.id });
  }
  office.delegations.delete(call.id);
  const { text, error = false } = await call.over;
  return { content: [{ type: "text", text }], ...(error && { isError: true }) };
}

async function waitFor(served: McpRun, { offer, context, client, sdk }: Call): Promise<CallResult | NeedsInput> {
  const stayed = await stay(served, context);
  if (stayed.over) return ending(served, offer);
  if (stayed.parked) return shown(served);
  // A client that cannot be asked is told so, and the question waits in the inbox and for `answer`.
  if (client.elicitation === undefined) return shown(served);
  return sdk.inputRequired({ inputRequests: questionForms(served, stayed.asked), requestState: served.id });
}

function shown(served: McpRun): CallResult {
  return callResultOf(viewOf(served.run.state, served.life(), Date.now()));
}

function ending(served: McpRun, { told }: Pick<StartingTool, "told">): CallResult {
  const view = viewOf(served.run.state, served.life(), Date.now());
  const result = callResultOf(view);
  return told ? { ...result, content: [{ type: "text", text: told(view) }] } : result;
}

function factsOf(served: McpRun): TaskFacts {
  const { id, startedAt, changedAt, life, run } = served;
  return { id, startedAt, changedAt: changedAt(), life: life(), doing: doingOf(run.state) };
}

const taskParams = z.looseObject({ taskId: z.string() });

/** The protocol's tasks: of both revisions, since most clients speak the earlier one. */
function serveTasks(server: ProtocolServer, { office, sdk }: SharedServer, era: Era): void {
  const find = (id: string): McpRun => {
    const served = office.runs.find(id);
    if (served?.id === id) return served;
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no task "${id}".`);
  };
  server.setRequestHandler("tasks/get", { params: taskParams }, ({ taskId }) => {
    const served = find(taskId);
    if (era === "legacy") return legacyTask(factsOf(served));
    return modernTask(factsOf(served), { result: shown(served), questions: questionForms(served, served.questions()) });
  });
  server.setRequestHandler("tasks/update", { params: taskParams }, async ({ taskId }, { mcpReq }) => {
    await takeReplies(find(taskId), mcpReq.inputResponses ?? {});
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: taskParams }, async ({ taskId }) => {
    const served = find(taskId);
    served.run.cancel("cancelled by the MCP client");
    if (era !== "legacy") return {};
    await served.over.catch(() => {});
    return legacyTask(factsOf(served));
  });
  if (era !== "legacy") return;
  server.setRequestHandler("tasks/list", { params: z.looseObject({}) }, () => ({
    tasks: office.runs.all().map((served) => legacyTask(factsOf(served))),
  }));
  server.setRequestHandler("tasks/result", { params: taskParams }, async ({ taskId }) => {
    const served = find(taskId);
    await served.over.catch(() => {}); // a client that stops polling does not end the task
    return { ...shown(served), _meta: { [RELATED_TASK]: { taskId } } };
  });
}

type Form = Parameters<ProtocolServer["elicitInput"]>[0];

/** Asks a client of the earlier protocol the questions of its task while it polls; postponed questions wait in the inbox. */
async function askOnTheWay(served: McpRun, server: ProtocolServer): Promise<void> {
  if (server.getClientCapabilities()?.elicitation === undefined) return;
  for (let stayed = await next(served); !stayed.over; stayed = await next(served)) {
    for (const [key, { params }] of Object.entries(questionForms(served, stayed.asked))) {
      const form = { ...params, _meta: { [RELATED_TASK]: { taskId: served.id } } } as Form;
      await takeReplies(served, { [key]: await server.elicitInput(form, { timeout: ROUND_MS }) });
    }
  }
}

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** What the client can do: said with each request in the newest protocol, once at the beginning in earlier ones. */
function capabilitiesOf(server: ProtocolServer, { mcpReq }: CallContext): Capabilities {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const said = envelope[CAPABILITIES];
  return isRecord(said) ? said : (server.getClientCapabilities() ?? {});
}

/** Errors of the caller are returned with their hint; internal errors are not exposed. */
function failure(thrown: unknown, { sdk, onError }: Pick<SharedServer, "sdk" | "onError">): CallResult {
  if (thrown instanceof sdk.ProtocolError) throw thrown;
  if (isCrewError(thrown))
    return {
      content: [{ type: "text", text: `${thrown.code}: ${thrown.message} ${thrown.hint}`.trimEnd() }],
      isError: true,
    };
  onError(thrown);
  return { content: [{ type: "text", text: "Internal error of subcrew." }], isError: true };
}
