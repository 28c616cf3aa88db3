import type { Outcome } from "../../core/outcome/outcome.ts";
import { crashed } from "../../core/task/crash.ts";
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
  const waiting = new Map<number, Waiting>();
  const revokes = new Map<number, () => void>();
  const bells = new Set<() => void>();
  let last = 0;
  let began = false;
  let setup: unknown;

  const send = <K extends keyof Requests>(ask: K, give: Requests[K]["give"], signal?: AbortSignal): Sent<K> => {
    last += 1;
    const id = last;
    const got = new Promise<Requests[K]["get"]>((resolve, reject) => {
      const drop = (): void => channel.send({ type: "drop", id });
      let done = (): void => {};
      waiting.set(id, {
        resolve: (get) => {
          done();
          resolve(get as Requests[K]["get"]);
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      channel.send({ type: "request", id, request: { ask, give } as ChildRequest });
      if (signal?.aborted) drop();
      else if (signal) done = onAbort(signal, drop);
    });
    return { id, got };
  };
  const parksOf = (rules: ParkRules): Parks => ({
    ...rules,
    park: async (why, wait) => {
      if (!(await send("park", why).got)) return false;
      const ended = await wait(controller.signal);
      return !controller.signal.aborted && send("unpark", ended).got;
    },
  });
  const contextOf = ({ attended, parks }: Job): PerformContext => ({
    signal: controller.signal,
    emit: (fact) => channel.send({ type: "emit", fact }),
    live: (delta) => channel.send({ type: "live", delta }),
    tell: (text) => channel.send({ type: "tell", text }),
    durable: () => send("durable", null).got,
    delegate: (what, parent, signal) => send("delegate", { what, parent }, signal).got,
    agents: () => send("agents", null).got,
    send: (to, text) => send("send", { to, text }).got,
    ask: (question, { signal, ...about }) => send("ask", { question, ...about }, signal).got,
    mail: (wait) => send("mail", { wait: wait !== undefined }, wait).got,
    background: {
      start: (what, parent, tells) => send("start", { what, parent, tells }).got,
      ended: (key, signal) => send("ended", key, signal).got,
      stop: (key, reason) => send("stop", { key, reason }).got,
    },
    claim: () => send("claim", null).got,
    onUrgent: (rung) => {
      bells.add(rung);
      return () => void bells.delete(rung);
    },
    budget: {
      room: () => send("room", null).got,
      count: (what) => send("count", what).got,
      reserve: async (wish, revoke, signal) => {
        const { id, got } = send("reserve", wish, signal);
        revokes.set(id, revoke); // set first, because the reservation can be revoked before the answer arrives
        const refusal = await got;
        if (refusal) revokes.delete(id);
        return (
          refusal ?? {
            settle: (actual) => {
              revokes.delete(id);
              channel.send({ type: "settle", id, actual });
            },
            release: () => {
              revokes.delete(id);
              channel.send({ type: "release", id });
            },
          }
        );
      },
    },
    ...(parks && { parks: parksOf(parks) }),
    attended,
    past: () => send("past", null).got,
    workspace: (have) => send("workspace", have ?? null).got,
    returned: () => send("returned", null).got,
    tape: (method, values) => send("tape", { method, values }).got,
  });
  const answered = (id: number, how: (one: Waiting) => void): void => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (one) how(one);
  };

  return new Promise((resolve) => {
    const begin = async (job: Job): Promise<void> => {
      began = true;
      const outcome = await work(job, contextOf(job), setup).catch((thrown: unknown) => crashed(thrown, job.call));
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
        case "answer":
          return answered(message.id, (one) => one.resolve(message.get));
        case "broken":
          return answered(message.id, (one) => one.reject(new Error(message.message)));
        case "revoke":
          return revokes.get(message.id)?.();
        case "urgent":
          return bells.forEach((rung) => rung());
        case "ping":
          return channel.send({ type: "pong" });
        case "cancel":
          return controller.abort(stopped(message.reason));
      }
    };
    channel.listen(receive, () => {
      controller.abort(stopped("the parent process has ended"));
      for (const id of waiting.keys()) answered(id, (one) => one.reject(new Error("the parent process has ended")));
      // Gives processes that the task started a short time to exit by themselves.
      if (began) setTimeout(resolve, LAST_MS);
      else resolve();
    });
  });
}

/** Time for a task to stop after its parent has ended. */
const LAST_MS = 1_000;

type Waiting = Readonly<{ resolve(get: unknown): void; reject(error: Error): void }>;
type Sent<K extends keyof Requests> = Readonly<{ id: number; got: Promise<Requests[K]["get"]> }>;
