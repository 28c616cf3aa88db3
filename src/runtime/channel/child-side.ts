import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed } from "../../core/task/crash.ts";
import type { Budget } from "../../core/run/budget.ts";
import type { ParkRules } from "../../core/run/event.ts";
import type { Parks, PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import { following, stopped } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import type { ChildRequest, Requests, TaskChannel, ToTask } from "./protocol.ts";

/**
 * Executes a job, on any machine; the context connects it to its run. `setup`: data that a runner sends to its own
 * child process.
 */
export type RunJob = (job: Job, context: PerformContext, setup: unknown) => Promise<Outcome>;

/**
 * The side of the child process: takes a single job and returns its outcome. Resolves when the job is done, or when the
 * parent has ended.
 */
export function serveParent(channel: TaskChannel, work: RunJob, stop: AbortSignal): Promise<void> {
  const { controller } = following(stop);
  const run = new RunLink(channel, controller.signal);
  let began = false;
  let setup: unknown;

  return new Promise((resolve) => {
    const begin = async (job: Job): Promise<void> => {
      began = true;
      const outcome = await work(job, run.contextOf(job), setup).catch((thrown: unknown) => crashed(thrown, job.call));
      channel.send({ type: "ended", outcome });
      resolve();
    };
    const receive = (message: ToTask): void => {
      switch (message.type) {
        case "setup":
          setup = message.setup;
          return;
        case "job":
          return void begin(message.job);
        case "ping":
          return channel.send({ type: "pong" });
        case "cancel":
          return controller.abort(stopped(message.reason));
        default:
          return run.receive(message);
      }
    };
    channel.listen(receive, () => {
      controller.abort(stopped("the parent process has ended"));
      run.end(new Error("the parent process has ended"));
      // Gives processes that the task started a short time to exit by themselves.
      if (began) setTimeout(resolve, LAST_MS);
      else resolve();
    });
  });
}

/** Time for a task to stop after its parent has ended. */
const LAST_MS = 1_000;

/** The run of a task at the other end of a channel: requests to it, and its answers and notices. */
class RunLink {
  readonly #channel: TaskChannel;
  readonly #signal: AbortSignal;
  readonly #waiting = new Map<number, Waiting>();
  /** For each reservation: takes it back. */
  readonly #revokes = new Map<number, () => void>();
  /** The listeners for urgent messages. */
  readonly #bells = new Set<() => void>();
  #last = 0;

  constructor(channel: TaskChannel, signal: AbortSignal) {
    this.#channel = channel;
    this.#signal = signal;
  }

  receive(message: RunNotice): void {
    switch (message.type) {
      case "answer":
        return this.#take(message.id)?.resolve(message.get);
      case "broken":
        return this.#take(message.id)?.reject(new Error(message.message));
      case "revoke":
        return this.#revokes.get(message.id)?.();
      case "urgent":
        return this.#bells.forEach((rung) => rung());
    }
  }

  /** Fails all requests that have no answer. */
  end(error: Error): void {
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(error);
  }

  /** The context of the task: every service of its run is a request. */
  contextOf({ attended, parks }: Job): PerformContext {
    return {
      signal: this.#signal,
      emit: (fact) => this.#channel.send({ type: "emit", fact }),
      live: (delta) => this.#channel.send({ type: "live", delta }),
      tell: (text) => this.#channel.send({ type: "tell", text }),
      durable: () => this.#ask("durable", null),
      delegate: (what, parent, signal) => this.#ask("delegate", { what, parent }, signal),
      agents: () => this.#ask("agents", null),
      send: (to, text) => this.#ask("send", { to, text }),
      ask: (question, { signal, ...about }) => this.#ask("ask", { question, ...about }, signal),
      mail: (wait) => this.#ask("mail", { wait: wait !== undefined }, wait),
      background: {
        start: (what, parent, tells) => this.#ask("start", { what, parent, tells }),
        ended: (key, signal) => this.#ask("ended", key, signal),
        stop: (key, reason) => this.#ask("stop", { key, reason }),
      },
      claim: () => this.#ask("claim", null),
      onUrgent: (rung) => {
        this.#bells.add(rung);
        return () => void this.#bells.delete(rung);
      },
      budget: {
        room: () => this.#ask("room", null),
        count: (what) => this.#ask("count", what),
        reserve: (wish, revoke, signal) => this.#reserve(wish, revoke, signal),
      },
      ...(parks && { parks: this.#parksOf(parks) }),
      attended,
      past: () => this.#ask("past", null),
      workspace: (have) => this.#ask("workspace", have ?? null),
      returned: () => this.#ask("returned", null),
      tape: (method, values) => this.#ask("tape", { method, values }),
    };
  }

  #ask<K extends keyof Requests>(ask: K, give: Requests[K]["give"], signal?: AbortSignal): Promise<Requests[K]["get"]> {
    return this.#send(ask, give, signal).got;
  }

  #send<K extends keyof Requests>(ask: K, give: Requests[K]["give"], signal?: AbortSignal): Sent<K> {
    this.#last += 1;
    const id = this.#last;
    const got = new Promise<Requests[K]["get"]>((resolve, reject) => {
      const drop = (): void => this.#channel.send({ type: "drop", id });
      let done = (): void => {};
      this.#waiting.set(id, {
        resolve: (get) => {
          done();
          resolve(get as Requests[K]["get"]);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      this.#channel.send({ type: "request", id, request: { ask, give } as ChildRequest });
      if (signal?.aborted) drop();
      else if (signal) done = onAbort(signal, drop);
    });
    return { id, got };
  }

  /** Removes a request from those that wait for their answer. */
  #take(id: number): Waiting | undefined {
    const one = this.#waiting.get(id);
    this.#waiting.delete(id);
    return one;
  }

  #reserve: Budget["reserve"] = async (wish, revoke, signal) => {
    const { id, got } = this.#send("reserve", wish, signal);
    this.#revokes.set(id, revoke); // set first, because the reservation can be revoked before the answer arrives
    const refusal = await got;
    if (refusal) {
      this.#revokes.delete(id);
      return refusal;
    }
    return {
      settle: (actual) => {
        this.#revokes.delete(id);
        this.#channel.send({ type: "settle", id, actual });
      },
      release: () => {
        this.#revokes.delete(id);
        this.#channel.send({ type: "release", id });
      },
    };
  };

  #parksOf(rules: ParkRules): Parks {
    return {
      ...rules,
      park: async (why, wait) => {
        if (!(await this.#ask("park", why))) return false;
        const ended = await wait(this.#signal);
        return !this.#signal.aborted && this.#ask("unpark", ended);
      },
    };
  }
}

type RunNotice = Extract<ToTask, { type: "answer" | "broken" | "revoke" | "urgent" }>;
type Waiting = Readonly<{ resolve(get: unknown): void; reject(error: Error): void }>;
type Sent<K extends keyof Requests> = Readonly<{ id: number; got: Promise<Requests[K]["get"]> }>;
