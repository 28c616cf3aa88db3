import { randomUUID } from "node:crypto";
import { extractMessageText, isOver, type RemoteMessage, type RemoteTask, type RemoteUpdate } from "../core/net/a2a.ts";
import type { Answer } from "../core/plan/gate.ts";
import type { Event, Origin } from "../core/run/event.ts";
import { isEnded, runStatusOf } from "../core/run/run-status.ts";
import { isCrewError } from "../core/schema/error.ts";
import type { RunOptions } from "../crew/prepare/run-options.ts";
import type { Crew } from "../crew/crew-type.ts";
import { deferred } from "../runtime/async/deferred.ts";
import type { Run } from "../runtime/run/run.ts";
import { RUN_ID } from "../runtime/store/run-id.ts";
import { type A2aRun, serveRun } from "./served-run.ts";
import { taskError } from "./task-error.ts";
import { STOPPED, taskView } from "./view.ts";

/** The caller and agent that own a task. A caller sees neither tasks of other callers nor local runs. */
export type TaskOwner = Readonly<{ caller: string; agent: string }>;

/** Called with the id of a task before any update of the task is sent. */
export type Register = (id: string) => Promise<unknown>;

export type TaskOptions = Readonly<{
  /** The names of the agents that are offered. */
  agents: ReadonlySet<string>;
  /** Options for every run of the server. */
  run?: RunOptions;
  /** Called with each event. `registered` settles when the push notifications of the task are registered. */
  heard?(served: A2aRun, event: Event, registered: Promise<void>): void;
  onError(error: unknown): void;
  /** The maximum number of unfinished tasks per caller. */
  mostActive?: number;
}>;

/** The name of the protocol in the records of runs. */
const BY = "a2a";
const MOST_ACTIVE = 100;
const CLOSE_MS = 5_000;
/** The maximum number of times that one conversation can be continued. */
const MOST_CONTINUED = 45;
const CONTEXT = /^[\w.:-]{1,128}$/;

/** The tasks of a server. Each is a run with the same id. */
export class Tasks {
  readonly #crew: Crew;
  readonly #options: TaskOptions;
  readonly #common: RunOptions;
  readonly #active = new Map<string, A2aRun>();
  #known: Promise<Map<string, Origin>> | undefined;

  constructor(crew: Crew, options: TaskOptions) {
    this.#crew = crew;
    this.#options = options;
    this.#common = { parkByDefault: true, ...options.run };
  }

  /**
   * Starts a task, answers its question, or sends a message to a working task. `register` is called before the message
   * takes effect; for a new task, it is called before `heard`. So a push address in the message gets every update.
   */
  async send(who: TaskOwner, message: RemoteMessage, register: Register = async () => {}): Promise<A2aRun> {
    if (!this.#options.agents.has(who.agent)) throw taskError("not-found", "No agent is served at this address.");
    return message.taskId === undefined
      ? this.#start(who, message, register)
      : this.#reply(who, message.taskId, message, register);
  }

  async get(who: TaskOwner, id: string): Promise<RemoteTask> {
    return this.#lookAt(await this.#originOf(who, id), id);
  }

  async list({ caller, agent }: TaskOwner): Promise<readonly RemoteTask[]> {
    const own = [...(await this.#origins())].filter(
      ([, one]) => one.by === BY && one.caller === caller && one.agent === agent,
    );
    const tasks = await Promise.all(own.map(([id, origin]) => this.#lookAt(origin, id).catch(() => undefined)));
    return tasks
      .filter((task) => task !== undefined)
      .toSorted((a, b) => (b.status.timestamp ?? "").localeCompare(a.status.timestamp ?? ""));
  }

  async cancel(who: TaskOwner, id: string): Promise<RemoteTask> {
    const origin = await this.#originOf(who, id);
    const task = await this.#lookAt(origin, id);
    if (isOver(task.status.state)) throw taskError("not-cancelable", "The task has already ended.");
    const reason = "cancelled by the caller";
    const { owner } = await this.#crew.kept.look(id);
    const served = this.#active.get(id) ?? (owner === undefined ? this.#resume(id, origin) : undefined);
    if (served) {
      served.run.cancel(reason);
      await served.over;
    } else {
      await this.#crew.open(id).cancel({ reason });
    }
    return this.#lookAt(origin, id);
  }

  /** The updates of a task that has not ended. */
  async follow(who: TaskOwner, id: string): Promise<AsyncGenerator<RemoteUpdate, void>> {
    const served = await this.#unfinished(await this.#originOf(who, id), id);
    if (!served) throw taskError("unsupported", "No process is running the task, so the task sends no events.");
    return served.updates();
  }

  /** The id of the run of a task, if this caller owns the task; throws for other tasks. */
  async own(who: TaskOwner, id: string): Promise<string> {
    await this.#originOf(who, id);
    return id;
  }

  /** Resumes tasks that were interrupted when the server stopped; returns their number. */
  async resume(): Promise<number> {
    const { agents, onError } = this.#options;
    const mine = [...(await this.#origins())].filter(([, { by, agent }]) => by === BY && agents.has(agent));
    const looked = await Promise.all(
      mine.map(async ([id, origin]) => ({ origin, kept: await this.#crew.kept.look(id).catch(() => undefined) })),
    );
    const left = looked.flatMap(({ origin, kept }) => (kept && isLeft(kept) ? [{ origin, id: kept.id }] : []));
    for (const { id, origin } of left) this.#resume(id, origin).run.then(undefined, onError);
    return left.length;
  }

  async close(): Promise<void> {
    const left = [...this.#active.values()];
    for (const { run } of left) run.pause(STOPPED);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([Promise.all(left.map(({ over }) => over)), late]);
    clearTimeout(timer);
  }

  #origins(): Promise<Map<string, Origin>> {
    return (this.#known ??= this.#crew.kept.origins().then((map) => new Map(map)));
  }

  /** The owner of a task. A missing task and a task of another caller give the same error. */
  async #originOf({ caller, agent }: TaskOwner, id: string): Promise<Origin> {
    const all = await this.#origins();
    if (typeof id !== "string") throw taskError("not-found", "The request names no task.");
    const origin =
      all.get(id) ??
      (RUN_ID.test(id) ? (await this.#crew.kept.look(id).catch(() => undefined))?.state.origin : undefined);
    if (origin?.by !== BY || origin.caller !== caller || origin.agent !== agent)
      throw taskError("not-found", `The task "${id.slice(0, 80)}" does not exist.`);
    all.set(id, origin);
    return origin;
  }

  #serve(run: Run, origin: Origin, registered = Promise.resolve()): A2aRun {
    const served = serveRun(run, origin, (one, event) => this.#options.heard?.(one, event, registered));
    this.#active.set(run.id, served);
    void served.over.then(() => this.#active.delete(run.id));
    return served;
  }

  #resume(id: string, origin: Origin): A2aRun {
    return this.#serve(this.#crew.resume(id, { ...this.#common }), origin);
  }

  async #start(who: TaskOwner, message: RemoteMessage, register: Register): Promise<A2aRun> {
    const text = extractMessageText(message).trim();
    if (text === "") throw taskError("bad-request", "The message has no text.");
    if (message.contextId !== undefined && !CONTEXT.test(message.contextId))
      throw taskError("bad-request", "The context id is not valid.");
    const { mostActive = MOST_ACTIVE } = this.#options;
    if ([...this.#active.values()].filter(({ origin }) => origin.caller === who.caller).length >= mostActive)
      throw taskError("busy", `${mostActive} of your tasks are already running. Try again later.`);
    const origin: Origin = { by: BY, ...who, context: message.contextId ?? randomUUID() };
    const more = message.contextId === undefined ? undefined : await this.#continuing(text, origin);
    const options: RunOptions = { ...this.#common, origin };
    const run = more
      ? this.#crew.run(more.plan, { ...options, continues: more.continues })
      : this.#crew.run({ mode: "single", agent: who.agent, task: text }, options);
    (await this.#origins()).set(run.id, origin);
    const registered = deferred<void>();
    const served = this.#serve(run, origin, registered.promise);
    try {
      await this.#begun(run, served);
      await register(run.id);
    } finally {
      registered.resolve();
    }
    return served;
  }

  /** How a message continues its conversation, whose newest ended task it follows. */
  async #continuing(text: string, origin: Origin): Promise<Awaited<ReturnType<Crew["continuing"]>> | undefined> {
    const same = [...(await this.#origins())].filter(
      ([, one]) =>
        one.by === BY && one.caller === origin.caller && one.agent === origin.agent && one.context === origin.context,
    );
    const looked = await Promise.all(same.map(([id]) => this.#crew.kept.look(id).catch(() => undefined)));
    const ended = looked.filter((one) => one !== undefined && isEnded(one.life));
    const [newest] = ended.toSorted((a, b) => (b?.state.startedAt ?? 0) - (a?.state.startedAt ?? 0));
    if (!newest) return undefined;
    const options = { run: newest.id, prompt: text, allowFailed: true, maxContinuations: MOST_CONTINUED };
    return this.#crew.continuing(options).catch((error: unknown) => {
      this.#options.onError(error);
      return undefined;
    });
  }

  /** Resolves when a run has started; errors reveal nothing about this machine. */
  async #begun(run: Run, { over }: A2aRun): Promise<void> {
    await Promise.race([over, firstEvent(run)]);
    if (run.state.seq > 0) return;
    await run.then(undefined, (error: unknown) => {
      this.#options.onError(error);
      throw taskError("broken", `The agent could not be started${isCrewError(error) ? ` (${error.code})` : ""}.`, {
        cause: error,
      });
    });
  }

  async #lookAt(origin: Origin, id: string): Promise<RemoteTask> {
    const served = this.#active.get(id);
    if (served) return served.view();
    const { state, life } = await this.#crew.kept.look(id);
    return taskView(state, { life, origin, isForCaller: ({ call }) => call === undefined });
  }

  /** The run of an unfinished task: executed by this process, or watched while another process executes it. */
  async #unfinished(origin: Origin, id: string): Promise<A2aRun | undefined> {
    const served = this.#active.get(id);
    if (served) return served.run.state.outcome ? undefined : served;
    const { life, owner } = await this.#crew.kept.look(id);
    return !isEnded(life) && owner !== undefined ? serveRun(this.#crew.kept.follow(id), origin) : undefined;
  }

  async #reply(who: TaskOwner, id: string, message: RemoteMessage, register: Register): Promise<A2aRun> {
    const origin = await this.#originOf(who, id);
    if (message.contextId !== undefined && message.contextId !== origin.context)
      throw taskError("bad-request", "The task and the message have different context ids (contextId).");
    const served = this.#active.get(id);
    if (!served || served.run.state.outcome)
      throw taskError("unsupported", "The task has ended and accepts no more messages.");
    await register(id);
    const question = served.question();
    const text = extractMessageText(message);
    if (!question) {
      const path = served.run.state.plan?.output ?? "";
      if (served.isSettled() || !(await served.run.send(path, text, who.caller || "the caller")))
        throw taskError("unsupported", "The task cannot accept messages right now.");
      return served;
    }
    const taken = served.until(({ type, path }) => type === "gate.answered" && path === question.path);
    if (await served.run.answer(question.path, answerIn(message, who), question.call)) await taken;
    return served;
  }
}

/** True for a run that has not ended, that no process works on and that this server may resume. */
function isLeft({ state, owner }: Awaited<ReturnType<Crew["kept"]["look"]>>): boolean {
  if (owner !== undefined || state.seq === 0) return false;
  return runStatusOf(state, false) === "interrupted" || (state.status === "paused" && state.pausedFor === STOPPED);
}

async function firstEvent(run: Run): Promise<void> {
  const events = run[Symbol.asyncIterator]();
  try {
    await events.next();
    await events.return();
  } catch {
    // ignored, because the run ends with this error and reports it
  }
}

/** Converts a message to the answer to a question: its text, and whether it refuses. */
function answerIn(message: RemoteMessage, { caller }: TaskOwner): Answer {
  const text = extractMessageText(message).trim();
  const said = message.parts.flatMap((part) =>
    part.kind === "data" && typeof part.data === "object" && part.data !== null && "approve" in part.data
      ? [part.data.approve]
      : [],
  )[0];
  const approve = typeof said === "boolean" ? said : !/^(?:no|deny|denied|reject|rejected)\b/i.test(text);
  return { approve, text, by: caller || "the caller" };
}
