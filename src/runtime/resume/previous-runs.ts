import type { Agent } from "../../core/agent/agent.ts";
import { aboveOf } from "../../core/delegation/address-of-task.ts";
import { agentNameOf, type Roster } from "../../core/delegation/roster.ts";
import type { ImageContent } from "../../core/model/images.ts";
import type { Message } from "../../core/model/model.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { nodeAt } from "../../core/plan/graph.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import { allowedTools } from "../../core/policy/permit.ts";
import type { KeptEvent, RunEnvironment } from "../../core/run/event.ts";
import { historyOf } from "../../core/run/history.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import { changedPlan } from "../../core/schedule/change.ts";
import { outputOfNode } from "../../core/schedule/fill-references.ts";
import type { Call, PerformContext } from "../../core/task/engine.ts";
import { forkedMessages } from "../../core/task/fork-point.ts";
import type { Assignment } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { firstMessage, type FirstMessageParts } from "../loop/first-message.ts";
import { readImages } from "./kept-images.ts";
import { rebuildConversation } from "../loop/rebuild-conversation.ts";
import {
  agentHash,
  isChanged,
  type RecordedAgent,
  type RecordedAgents,
  recordedAgents,
  withAuthOf,
  withoutAuth,
} from "./recorded-agent.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** The records of earlier processes and runs: the journal of this run, or of the run that it continues. */
export type PreviousRuns = Readonly<{
  /** The agents that this run recorded. */
  agents: RecordedAgents;
  /**
   * The conversation of a task of any run, up to a turn or as a whole, and its agent; `undefined` when the run was
   * deleted.
   */
  talkOf(task: string, turn?: number): Promise<PreviousConversation | undefined>;
  /** The images of a task, read from where its run stores them. */
  imagesOf(run: string, images: Task["images"]): Promise<Readonly<{ images?: readonly ImageContent[] }>>;
  /** True: uses the current definitions of agents, but gives them no new permissions. */
  refresh: boolean;
  /** The agents whose change was already reported, by hash and by name. */
  told: Set<string>;
}>;

export type PreviousConversation = Readonly<{
  messages: readonly Message[];
  /** The conversation as it was recorded: tool calls at its end may still have no result. */
  open: readonly Message[];
  turns: number;
  /** The output files of other tasks that the conversation named. */
  files: readonly string[];
  agent: RecordedAgent | undefined;
  /** The parts of the conversation's first message. */
  begins: ConversationBeginning;
  /** What its system prompt says about the start of its run. */
  environment?: RunEnvironment;
  /**
   * The conversation that this conversation was forked from, and the index of its own first message; -1 when a summary
   * replaced that message.
   */
  forked?: Readonly<{ from: string; turn: number; first: number }>;
  /** True: an agent started the task. */
  delegated: boolean;
}>;

/** The parts of the first message of a recorded task: the context of its run, the task, and the attached outputs. */
export type ConversationBeginning = Omit<FirstMessageParts, "fork" | "run">;

/** Maximum length of a chain of continued conversations. */
const LONGEST_CHAIN = 1_000;

export type PreviousRunsParts = Readonly<{
  store: RunStore;
  refresh?: boolean;
  continued?: RecordedRun | undefined;
  /** The agents that this run carries. */
  carried?: ReadonlyMap<string, Agent>;
}>;

/** Opens the records of earlier runs in a store. */
export function openPreviousRuns(
  past: readonly KeptEvent[],
  { store, refresh = false, continued, carried }: PreviousRunsParts,
): PreviousRuns {
  const imagesOf: PreviousRuns["imagesOf"] = async (run, images) => {
    const found = await readImages(store, run, images);
    return found.length === 0 ? {} : { images: found };
  };
  const talkOf = async (
    task: string,
    turn?: number,
    later: readonly string[] = [],
  ): Promise<PreviousConversation | undefined> => {
    const { run, path } = taskIn(task);
    if (later.includes(task) || later.length > LONGEST_CHAIN) return undefined;
    const chain = [...later, task];
    const { events } =
      continued?.id === run ? continued.records : await store.readWhole(run).catch(() => ({ events: [] }));
    const begun = events[0];
    const history = historyOf(events);
    const started = history.started(path);
    if (begun?.type !== "run.started" || !started) return undefined;
    const node = nodeAt(planAt(events, begun.plan), path);
    const settings = node?.kind === "task" ? node.task : started.task;
    const { agent, prompt = "", resumes } = started;
    const own = upTo(turn, history.events(path));
    const earlier = resumes === undefined ? (started.continues ?? settings?.continues) : undefined;
    const forked = own.find((event) => event.type === "conversation.forked");
    const above = forked && (await talkOf(forked.from, forked.turn, chain));
    const last = above ?? (earlier === undefined ? undefined : await talkOf(earlier, undefined, chain));
    const before = above
      ? forkedMessages({ messages: above.open })
      : resumes !== undefined
        ? resumedMessages(
            history.started(resumes)?.prompt,
            outputAt(events, resumes, started.seq),
            await talkOf(`${run}/${resumes}`, undefined, chain),
          )
        : (last?.messages ?? []);
    const context = before.length === 0 ? (begun.context ?? "") : ""; // a continued conversation already contains the context
    const recorded = recordedAgents(events).at(path);
    const begins: ConversationBeginning = {
      context,
      task: { ...defined({ agent }), ...settings, prompt },
      attachments: (started.attached ?? []).map(({ title, path: at }) => ({
        title,
        path: at,
        text: outputAt(events, at, started.seq),
      })),
      ...(started.review && { review: true }),
      ...(resumes !== undefined && { resumes: { path: resumes, prompt: "", output: "" } }),
    };
    const hasSchema = [recorded?.definition.output, settings?.schema].some(isRecord);
    const begin: readonly Message[] = [
      ...before,
      {
        role: "user",
        text: firstMessage({ ...begins, run }, hasSchema),
        ...(await imagesOf(run, settings?.images)),
        ...(context !== "" && { shared: context.length }),
      },
    ];
    const { messages, turns, shortened, files } = rebuildConversation(own, begin);
    return {
      messages: wholeTalk(own, begin),
      open: messages,
      turns,
      files: [...(last?.files ?? []), ...files],
      agent: recorded,
      begins,
      ...defined({ environment: last?.environment ?? begun.environment }),
      ...(forked && { forked: { from: forked.from, turn: forked.turn, first: shortened ? -1 : before.length } }),
      delegated: node === undefined,
    };
  };
  return {
    agents: recordedAgents(past, carried),
    talkOf: (task, turn) => talkOf(task, turn),
    imagesOf,
    refresh,
    told: new Set(),
  };
}

/** The plan of a run with all nodes that were added to it later. */
const planAt = (events: readonly KeptEvent[], plan: Plan): Plan =>
  events.reduce((now, event) => (event.type === "plan.changed" ? changedPlan(now, event.change) : now), plan);

/** The output of a node as it was when the event with this number was recorded. */
function outputAt(events: readonly KeptEvent[], path: string, before: number): string {
  const ended = events.findLast((event) => event.type === "node.ended" && event.path === path && event.seq < before);
  return outputOfNode(ended?.type === "node.ended" ? ended.outcome : undefined);
}

/** The conversation that a task continues: as recorded, or its prompt and result if it has no turns. */
export function resumedMessages(
  prompt: string | undefined,
  output: string,
  talk: Pick<PreviousConversation, "messages"> | undefined,
): readonly Message[] {
  if (talk && talk.messages.length > 1) return talk.messages;
  return [
    { role: "user", text: prompt ?? "" },
    { role: "assistant", text: output, calls: [] },
  ];
}

/** The events of a task up to the end of a turn; all of them if no turn is given. */
function upTo(turn: number | undefined, events: readonly KeptEvent[]): readonly KeptEvent[] {
  const last = events.find((event) => event.type === "turn.ended" && event.turn === turn);
  return last ? events.filter(({ seq }) => seq <= last.seq) : events;
}

/** A finished conversation that can be continued: every tool call has a result, and unread messages are included. */
function wholeTalk(events: readonly KeptEvent[], begin: readonly Message[]): readonly Message[] {
  const { messages, unfinished, mail } = rebuildConversation(events, begin);
  const unread = mail.map((text): Message => ({ role: "user", text }));
  if (!unfinished || unfinished.turn.calls.length === 0) return [...messages, ...unread];
  const results = unfinished.turn.calls.map(
    ({ id, name }) => unfinished.known.get(id) ?? { id, name, text: "Received.", error: false },
  );
  return [...messages, { role: "tool", results }, ...unread];
}

/** The run id and the path in `run/path`. */
export function taskIn(task: string): { run: string; path: string } {
  const cut = task.indexOf("/");
  return { run: task.slice(0, cut), path: task.slice(cut + 1) };
}

/** True for an earlier task of the same parent: a task cannot continue conversations of other parents. */
function isOwnTask(task: string, { run, path }: Call): boolean {
  const known = taskIn(task);
  return known.run === run && aboveOf(known.path) === aboveOf(path);
}

/** A task with its recorded conversation, and its agent. */
export type ContinuedCall = Readonly<{ call: Call; roster: Roster }>;

/**
 * Adds recorded data to the request for a task: the continued conversation, and the recorded agent and permissions. The
 * recorded definition of the agent is used; with `refresh` the current definition, within the recorded permissions. The
 * choice between the two is reported.
 */
export async function withPreviousRun(
  call: Call,
  { roster, earlier }: { roster: Roster; earlier: PreviousRuns },
  { emit, past }: Pick<PerformContext, "emit" | "past">,
): Promise<ContinuedCall | FailedOutcome> {
  const { continues } = call.task;
  const name = agentNameOf(call.task, roster);
  if (continues !== undefined && call.depth > 0 && !isOwnTask(continues, call))
    return failed("DENIED", `"${call.path}" may not continue a conversation of another run or agent.`);
  const talk = continues === undefined ? undefined : await earlier.talkOf(continues);
  if (continues !== undefined && !talk)
    return failed("BAD_INPUTS", `"${continues}" no longer exists, so it cannot be continued.`, {
      hint: "Start a new task.",
    });
  const begun = earlier.agents.at(call.path);
  const there = talk?.agent ?? begun;
  const recorded = there ?? earlier.agents.named(name);
  const found = roster.find(name);
  const agent = recorded ? chosen(name, { recorded, found, earlier }, emit) : found;
  return {
    call: {
      ...call,
      ...(there && { recordedRights: there.rights }),
      ...(begun && (await past()).length > 0 && !earlier.refresh && { recordedModel: begun.model }),
      ...(await earlier.imagesOf(call.run, call.task.images)),
      ...(talk && { before: talk.messages, readable: talk.files, ...defined({ environment: talk.environment }) }),
    },
    roster: { ...roster, find: (other) => (other === name ? agent : roster.find(other)) },
  };
}

function chosen(
  name: string,
  {
    recorded,
    found,
    earlier,
  }: { recorded: Pick<RecordedAgent, "definition">; found: Agent | undefined; earlier: PreviousRuns },
  emit: PerformContext["emit"],
): Agent {
  if (!found || !isChanged(recorded.definition, found)) return found ?? recorded.definition;
  const first = !earlier.told.has(`name ${name}`);
  earlier.told.add(`name ${name}`);
  if (earlier.refresh) {
    if (first)
      emit({
        type: "note",
        text: `The agent "${name}" uses its current definition, with no more permissions than before.`,
      });
    return found;
  }
  if (first)
    emit({
      type: "warning",
      code: "AGENT_CHANGED",
      text: `The agent "${name}" has changed since the run started; the recorded definition is used. --refresh-agent uses the new one.`,
    });
  return withAuthOf(recorded.definition, found);
}

/**
 * Records agent and permissions of a task, so that resuming never adds permissions; and the key under which its result
 * can be reused.
 */
export function recordAgent(
  { call, rights, tools, model }: Assignment,
  { roster, earlier, reuse }: { roster: Roster; earlier: PreviousRuns; reuse: string | undefined },
  emit: PerformContext["emit"],
): void {
  const name = agentNameOf(call.task, roster);
  const definition = roster.find(name);
  if (!definition) return;
  const { rights: allowed } = allowedTools(rights, tools);
  const hash = agentHash(definition, allowed);
  const before = earlier.agents.at(call.path);
  if (before?.hash === hash && before.model === model.ref && before.reuse === reuse) return;
  emit({
    type: "agent.resolved",
    agent: name,
    hash,
    model: model.ref,
    ...(!earlier.told.has(hash) && { definition: withoutAuth(definition), rights: allowed }),
    ...(reuse !== undefined && { reuse }),
  });
  earlier.told.add(hash);
}
