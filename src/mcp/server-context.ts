import { timeoutSignal } from "../runtime/async/long-timer.ts";
import { resolve } from "node:path";
import { answerKind } from "../core/plan/answer-kind.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { Body, Plan } from "../core/plan/plan.ts";
import { isEnded, type RunStatus, openQuestions, type Question } from "../core/run/run-status.ts";
import type { RunCommand } from "../core/run/run-command.ts";
import type { State } from "../core/run/state.ts";
import { CrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import type { Crew } from "../crew.ts";
import { clientPlanRefusal } from "../runtime/access/client-plan.ts";
import { folderProblem } from "../runtime/access/folder-problem.ts";
import { cancelRun } from "../runtime/background/cancel-run.ts";
import type { DelegatedCall } from "./delegated.ts";
import { doingOf } from "../sinks/status-text.ts";
import { createServedRuns, type McpRun, type ServedRuns, type WaitedRun } from "./runs.ts";
import type { OutputFile } from "./result/bound.ts";
import type { TaskFacts } from "./tasks.ts";
import { type RunView, viewOf } from "./result/view.ts";

/** The permissions that the owner of a server gives its clients. */
export type ServerContextOptions = Readonly<{
  /** True when clients also see runs that they did not start. */
  allRuns?: boolean;
  /**
   * True when the `answer` tool may also allow tool calls of agents. Otherwise only a person can, in a form or in the
   * inbox.
   */
  answersCalls?: boolean;
  /** False when no person can be asked, so that tasks that need an answer fail. */
  attended?: boolean;
}>;

/** The state that all tools and clients of a server share. */
export type ServerContext = Readonly<{
  crew: Crew;
  runs: ServedRuns;
  /** Running tool calls that start runs by themselves. */
  delegations: Map<string, DelegatedCall>;
  /** Starts a run in the owner's workspace. Another folder is refused. */
  start(plan: Plan): Promise<McpRun>;
  look(word: string): Promise<RunView>;
  list(): Promise<readonly RunView[]>;
  /**
   * The MCP task of a run, whichever process works on it. Throws `UNKNOWN_RUN` for a run that the client may not see.
   */
  task(id: string): Promise<McpTask>;
  tasks(): Promise<readonly TaskFacts[]>;
  /** Waits for the end of a run, at most for the given time. */
  wait(word: string, ms: number, signal: AbortSignal): Promise<RunView>;
  answer(word: string, said: GivenAnswer): Promise<Readonly<{ path: string; done: boolean; text: string }>>;
  cancel(word: string, reason: string): Promise<RunView>;
  outputFile: OutputFile;
}>;

/** A run as an MCP task. */
export type McpTask = Pick<WaitedRun, "questions" | "putOff" | "answer"> &
  Readonly<{
    facts: TaskFacts;
    view: RunView;
    /** Asks the run to end; does not wait until it has ended. */
    cancel(reason: string): Promise<void>;
    /** Waits until no process works on the run. */
    ended(signal: AbortSignal): Promise<void>;
  }>;

export type GivenAnswer = Readonly<{ path?: string | undefined; answer: Answer }>;

export function createServerContext(
  crew: Crew,
  { allRuns = false, answersCalls = false, attended = true }: ServerContextOptions = {},
): ServerContext {
  const runs = createServedRuns(crew, { attended });
  /** True for a run that this process no longer works on; another process may have resumed it. */
  const isElsewhere = async (own: McpRun): Promise<boolean> =>
    own.isOver() && own.run.state.seq > 0 && (await crew.kept.look(own.id)).state.seq > 0;
  /** A run of this server, or the id of another run that the owner shares. */
  const find = async (word: string): Promise<McpRun | string> => {
    const own = runs.find(word);
    if (own) return (await isElsewhere(own)) ? own.id : own;
    if (allRuns) return crew.findRun(word);
    throw unknownRun(word);
  };
  const look = async (word: string): Promise<RunView> => {
    const { state, life, answered } = await stateOf(crew, await find(word));
    return viewOf(state, life, Date.now(), answered);
  };
  const tell = (id: string, command: RunCommand): ReturnType<Crew["kept"]["tell"]> =>
    crew.kept.tell(id, command, { waitMs: TELL_MS, signal: NEVER });
  const cancelStored = (id: string, reason: string): Promise<unknown> =>
    cancelRun(crew, { id, reason, signal: AbortSignal.timeout(CANCEL_MS) });
  const task = async (id: string): Promise<McpTask> => {
    const found = await find(id);
    if ((typeof found === "string" ? found : found.id) !== id) throw unknownRun(id); // the word is a name or the beginning of an id, not the full id
    const { state, life, answered } = await stateOf(crew, found);
    const view = viewOf(state, life, Date.now(), answered);
    if (typeof found !== "string")
      return {
        facts: factsOf(found),
        view,
        questions: found.questions,
        putOff: found.putOff,
        answer: found.answer,
        cancel: async (reason) => found.cancel(reason),
        ended: async () => void (await found.over.catch(() => {})),
      };
    const changedAt = (await crew.kept.last(id))?.at ?? state.startedAt;
    return {
      facts: { id, life: readable(life), startedAt: state.startedAt, changedAt, doing: doingOf(state) },
      view,
      questions: () => openQuestions(state),
      putOff: new Set(),
      answer: async ({ path, question, call }, answer) =>
        (await tell(id, { do: "answer", path, answer, question, ...defined({ call }) }))?.done ?? false,
      cancel: async (reason) => void (await cancelStored(id, reason)),
      ended: async (signal) => void (await crew.kept.ended(id, signal)),
    };
  };
  return {
    crew,
    runs,
    task,
    outputFile: (run, path) => crew.kept.file(run, path),
    tasks: async () => {
      const own = runs.all();
      const others = allRuns ? await crew.kept.list({ all: true }) : [];
      return [
        ...(await Promise.all(own.map(async (each) => (await task(each.id)).facts))),
        ...others
          .filter(({ id }) => !own.some((each) => each.id === id))
          .map(({ id, state, life }) => {
            const { startedAt, endedAt = startedAt } = state;
            return { id, life: readable(life), startedAt, changedAt: endedAt, doing: doingOf(state) };
          }),
      ];
    },
    delegations: new Map(),
    start: async (plan) => {
      const refusal = clientPlanRefusal(plan, crew.cwd);
      if (refusal) throw new CrewError("BAD_INPUT", refusal.message, refusal.hint);
      await checkFolders(plan, crew.cwd);
      return runs.start(plan);
    },
    look,
    list: async () => {
      const own = runs.all();
      const others = allRuns ? await crew.kept.list({ all: true }) : [];
      return [
        ...(await Promise.all(own.map((each) => look(each.id)))),
        ...others
          .filter(({ id }) => !own.some((each) => each.id === id))
          .map(({ state, life, answered }) => viewOf(state, life, Date.now(), answered)),
      ];
    },
    wait: async (word, ms, signal) => {
      const found = await find(word);
      if (ms > 0) await ended(crew, found, AbortSignal.any([signal, timeoutSignal(ms)]));
      return look(typeof found === "string" ? found : found.id);
    },
    answer: async (word, { path, answer }) => {
      const found = await find(word);
      const { state } = await stateOf(crew, found);
      const question = theQuestion(state, path);
      if (answerKind(question) === "permission" && !answersCalls)
        throw new CrewError(
          "UNKNOWN_GATE",
          `"${state.run}/${question.path}" asks for a permission, which only a person can give.`,
          "Ask the user to answer the question with `subcrew inbox`.",
        );
      if (typeof found !== "string") {
        const done = await found.answer(question, answer);
        return {
          path: question.path,
          done,
          text: done ? "The answer was accepted." : "The question was already answered.",
        };
      }
      const { path: at, question: asked, call } = question;
      const command = {
        do: "answer" as const,
        path: at,
        answer,
        question: asked,
        ...defined({ call }),
      };
      const receipt = await tell(found, command);
      return {
        path: at,
        done: receipt?.done ?? false,
        text: receipt?.text ?? "The answer is saved until the run is resumed.",
      };
    },
    cancel: async (word, reason) => {
      const found = await find(word);
      if (typeof found === "string") await cancelStored(found, reason);
      else {
        found.cancel(reason);
        await found.over.catch(() => {});
      }
      return look(typeof found === "string" ? found : found.id);
    },
  };
}

const unknownRun = (word: string): CrewError =>
  new CrewError(
    "UNKNOWN_RUN",
    `The run "${word}" does not exist here.`,
    "`status` lists the runs that were started through this server.",
  );

/** A run of this process as an MCP task. */
export function factsOf(served: McpRun): TaskFacts {
  const { id, startedAt, changedAt, life, run } = served;
  return { id, startedAt, changedAt: changedAt(), life: life(), doing: doingOf(run.state) };
}

/**
 * The status of a run for MCP. A run with a damaged journal cannot continue; MCP has no word for it, so it is called
 * interrupted.
 */
const readable = (life: RunStatus | "damaged"): RunStatus => (life === "damaged" ? "interrupted" : life);

/** The time limit for the process of a run to confirm a command. */
const TELL_MS = 5_000;
/** The time limit for a run of another process to end. */
const CANCEL_MS = 15_000;
const NEVER = new AbortController().signal;

async function stateOf(
  crew: Crew,
  found: McpRun | string,
): Promise<Readonly<{ state: State; life: RunStatus | "damaged"; answered?: readonly string[] }>> {
  return typeof found === "string" ? crew.kept.look(found) : { state: found.run.state, life: found.life() };
}

async function ended(crew: Crew, found: McpRun | string, signal: AbortSignal): Promise<void> {
  if (typeof found === "string") return void (await crew.kept.ended(found, signal).catch(() => {}));
  if (isEnded(found.life())) return;
  const late = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([late, found.over.catch(() => {})]);
}

function theQuestion(state: State, path: string | undefined): Question {
  const open = openQuestions(state).filter((one) => path === undefined || one.path === path);
  const [only, ...others] = open;
  const hint = "`status` lists the open questions of a run.";
  if (!only)
    throw new CrewError(
      "UNKNOWN_GATE",
      `"${state.run}" has no open question${path === undefined ? "" : ` at "${path}"`}.`,
      hint,
    );
  if (others.length === 0) return only;
  throw new CrewError(
    "UNKNOWN_GATE",
    `"${state.run}" has ${open.length} open questions.`,
    `Give one of these as \`path\`: ${open.map((one) => one.path).join(", ")}.`,
  );
}

/** Throws when a client names a folder that does not exist. */
async function checkFolders({ nodes }: Body, workspace: string): Promise<void> {
  for (const node of Object.values(nodes)) {
    if (node.kind === "loop") await checkFolders(node.body, workspace);
    if (node.kind !== "task" || node.task.cwd === undefined) continue;
    const problem = await folderProblem(resolve(workspace, node.task.cwd));
    if (problem !== undefined)
      throw new CrewError(
        "BAD_INPUT",
        `"${node.task.cwd}" cannot be the working folder: ${problem}.`,
        "Give the path of an existing folder, relative to the working folder of the server; a URI is not accepted.",
      );
  }
}
