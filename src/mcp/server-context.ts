import { timeoutSignal } from "../runtime/async/long-timer.ts";
import { resolve } from "node:path";
import { answerKind } from "../core/plan/answer-kind.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { Body, Plan } from "../core/plan/plan.ts";
import { isEnded, type RunStatus, openQuestions, type Question } from "../core/run/run-status.ts";
import type { Receipt } from "../core/run/run-command.ts";
import type { State } from "../core/run/state.ts";
import { CrewError } from "../core/schema/error.ts";
import type { Crew } from "../crew/crew-type.ts";
import { clientPlanRefusal } from "../runtime/access/client-plan.ts";
import { folderProblem } from "../runtime/access/folder-problem.ts";
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

/** The state that all tools and clients of a server share. */
export class ServerContext {
  readonly crew: Crew;
  readonly runs: ServedRuns;
  /** Running tool calls that start runs by themselves. */
  readonly delegations = new Map<string, DelegatedCall>();
  readonly #allRuns: boolean;
  readonly #answersCalls: boolean;

  constructor(crew: Crew, { allRuns = false, answersCalls = false, attended = true }: ServerContextOptions = {}) {
    this.crew = crew;
    this.runs = createServedRuns(crew, { attended });
    this.#allRuns = allRuns;
    this.#answersCalls = answersCalls;
  }

  readonly outputFile: OutputFile = (run, path) => this.crew.kept.file(run, path);

  /** Starts a run in the owner's workspace. Another folder is refused. */
  async start(plan: Plan): Promise<McpRun> {
    const refusal = clientPlanRefusal(plan, this.crew.cwd);
    if (refusal) throw new CrewError("BAD_INPUT", refusal.message, refusal.hint);
    await checkFolders(plan, this.crew.cwd);
    return this.runs.start(plan);
  }

  async look(word: string): Promise<RunView> {
    const { state, life, answered } = await this.#stateOf(await this.#find(word));
    return viewOf(state, life, Date.now(), answered);
  }

  async list(): Promise<readonly RunView[]> {
    const others = (await this.#others()).map(({ state, life, answered }) => viewOf(state, life, Date.now(), answered));
    return [...(await Promise.all(this.runs.all().map(({ id }) => this.look(id)))), ...others];
  }

  /**
   * The MCP task of a run, whichever process works on it. Throws `UNKNOWN_RUN` for a run that the client may not see.
   */
  async task(id: string): Promise<McpTask> {
    const found = await this.#find(id);
    if ((typeof found === "string" ? found : found.id) !== id) throw unknownRun(id); // the word is a name or the beginning of an id, not the full id
    const { state, life, answered } = await this.#stateOf(found);
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
    const { kept } = this.crew;
    const changedAt = (await kept.last(id))?.at ?? state.startedAt;
    return {
      facts: { id, life: readable(life), startedAt: state.startedAt, changedAt, doing: doingOf(state) },
      view,
      questions: () => openQuestions(state),
      putOff: new Set(),
      answer: async (question, answer) => (await this.#sendAnswer(id, question, answer)).state !== "refused",
      cancel: async (reason) => void (await this.#cancelStored(id, reason)),
      ended: async (signal) => void (await kept.ended(id, signal)),
    };
  }

  async tasks(): Promise<readonly TaskFacts[]> {
    const others = (await this.#others()).map(({ id, state, life }) => {
      const { startedAt, endedAt = startedAt } = state;
      return { id, life: readable(life), startedAt, changedAt: endedAt, doing: doingOf(state) };
    });
    return [...(await Promise.all(this.runs.all().map(async ({ id }) => (await this.task(id)).facts))), ...others];
  }

  /** Waits for the end of a run, at most for the given time. */
  async wait(word: string, ms: number, signal: AbortSignal): Promise<RunView> {
    const found = await this.#find(word);
    if (ms > 0) await ended(this.crew, found, AbortSignal.any([signal, timeoutSignal(ms)]));
    return this.look(typeof found === "string" ? found : found.id);
  }

  async answer(
    word: string,
    { path, answer }: GivenAnswer,
  ): Promise<Readonly<{ path: string; done: boolean; text: string }>> {
    const found = await this.#find(word);
    const { state } = await this.#stateOf(found);
    const question = theQuestion(state, path);
    if (answerKind(question) === "permission" && !this.#answersCalls)
      throw new CrewError(
        "UNKNOWN_GATE",
        `"${state.run}/${question.path}" asks for a permission, which only a person can give.`,
        "Ask the user to answer the question with `subcrew inbox`.",
      );
    if (typeof found !== "string") {
      const done = await found.answer(question, answer);
      const text = done ? "The answer was accepted." : "The question was already answered.";
      return { path: question.path, done, text };
    }
    const receipt = await this.#sendAnswer(found, question, answer);
    return { path: question.path, done: receipt.state !== "refused", text: receipt.text };
  }

  async cancel(word: string, reason: string): Promise<RunView> {
    const found = await this.#find(word);
    if (typeof found === "string") await this.#cancelStored(found, reason);
    else {
      found.cancel(reason);
      await found.over.catch(() => {});
    }
    return this.look(typeof found === "string" ? found : found.id);
  }

  /** A run of this server, or the id of another run that the owner shares. */
  async #find(word: string): Promise<McpRun | string> {
    const own = this.runs.find(word);
    if (own) return (await this.#isElsewhere(own)) ? own.id : own;
    if (this.#allRuns) return this.crew.findRun(word);
    throw unknownRun(word);
  }

  /** True for a run that this process no longer works on; another process may have resumed it. */
  async #isElsewhere(own: McpRun): Promise<boolean> {
    return own.isOver() && own.run.state.seq > 0 && (await this.crew.kept.look(own.id)).state.seq > 0;
  }

  async #stateOf(
    found: McpRun | string,
  ): Promise<Readonly<{ state: State; life: RunStatus | "damaged"; answered?: readonly string[] }>> {
    return typeof found === "string" ? this.crew.kept.look(found) : { state: found.run.state, life: found.life() };
  }

  /** The runs that other processes started, if the owner shares them. */
  async #others(): ReturnType<Crew["kept"]["list"]> {
    const own = new Set(this.runs.all().map(({ id }) => id));
    const all = this.#allRuns ? await this.crew.kept.list({ all: true }) : [];
    return all.filter(({ id }) => !own.has(id));
  }

  #sendAnswer(id: string, { path, question, call }: Question, answer: Answer): Promise<Receipt> {
    return this.crew.open(id).answer(path, answer, { question, call });
  }

  #cancelStored(id: string, reason: string): Promise<unknown> {
    return this.crew.open(id).cancel({ reason });
  }
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
