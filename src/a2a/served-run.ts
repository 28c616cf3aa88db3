import type { Event, Origin } from "../core/event.ts";
import { lifeOf, openQuestions, type Question } from "../core/life.ts";
import type { RemoteTask, RemoteUpdate } from "../core/remote.ts";
import { isKept } from "../core/event.ts";
import type { State } from "../core/state.ts";
import { canonicalName } from "../core/tool-names.ts";
import type { Run } from "../runtime/run.ts";
import { artifactsOf, isStopped, RESULT, type Seen, statusOf, taskView } from "./view.ts";

/** A run that somebody asked for over the protocol, while this process works on it or watches it. */
export type ServedRun = Readonly<{
  run: Run;
  origin: Origin;
  view(): RemoteTask;
  /** True when it has ended, or waits for somebody. */
  isSettled(): boolean;
  /** The open question that its caller may answer. */
  question(): Question | undefined;
  /** What happens in it, as the protocol tells it: the task as it is, then each change until it is settled for its caller. */
  updates(): AsyncGenerator<RemoteUpdate, void>;
  /** Waits until it is settled, whatever its state is now: for `after` first, when that is given. */
  settled(after?: (event: Event) => boolean): Promise<void>;
  /** Settles when its end is known; never rejects. */
  over: Promise<void>;
}>;

export function serveRun(run: Run, origin: Origin, heard: (served: ServedRun, event: Event) => void = () => {}): ServedRun {
  /** The tool of each call, by where it was made: what `ask` asks is for the caller, everything else is a permission. */
  const tools = new Map<string, string>();
  let ended = false;
  const isForCaller = ({ path, call }: Question): boolean => {
    if (call === undefined || /^input-\d+(?:\.\d+)?$/.test(call)) return true;
    const tool = tools.get(`${path}#${call}`) ?? tools.get(`${path}#${call.replace(/\.\d+$/, "")}`);
    return tool !== undefined && (canonicalName(tool) ?? tool) === "ask";
  };
  const seen = (): Seen => ({ life: lifeOf(run.state, !ended), origin, isForCaller });
  const isSettled = (): boolean => ended || run.state.outcome !== undefined || openQuestions(run.state).length > 0;
  const question = (): Question | undefined => openQuestions(run.state).find(isForCaller);

  const served: ServedRun = {
    run,
    origin,
    isSettled,
    question,
    view: () => taskView(run.state, seen()),
    updates: async function* () {
      const from = run.state.seq;
      yield taskView(run.state, seen());
      if (run.state.outcome || question()) return;
      const tell = teller(run.state, seen);
      for await (const event of run) {
        if (isKept(event) && event.seq <= from) continue;
        yield* tell(event);
        if (event.type === "run.ended" || (event.type === "gate.opened" && question())) return;
      }
    },
    settled: async (after) => {
      let waits = after;
      if (!waits && isSettled()) return;
      const from = run.state.seq;
      for await (const event of run) {
        if (isKept(event) && event.seq <= from) continue;
        if (waits?.(event) || event.type === "run.ended") waits = undefined;
        else if (waits) continue;
        if (isSettled()) return;
      }
    },
    over: Promise.resolve(),
  };
  const over = (async (): Promise<void> => {
    try {
      for await (const event of run) {
        if (event.type === "turn.ended") for (const { id, name } of event.calls) tools.set(`${event.path}#${id}`, name);
        heard(whole, event);
      }
      await run;
    } catch {
      // whoever asked for it is told by `run` itself
    } finally {
      ended = true;
    }
  })();
  const whole: ServedRun = { ...served, over };
  return whole;
}

/** One event in the words of the protocol; most of them are nobody's business outside. */
function teller(state: State, seen: () => Seen): (event: Event) => Generator<RemoteUpdate> {
  const ids = { taskId: state.run, contextId: seen().origin.context };
  let begun = false;
  return function* (event) {
    switch (event.type) {
      case "text.delta":
        if (event.path !== state.plan?.output) return;
        yield { kind: "artifact-update", ...ids, artifact: { artifactId: RESULT, parts: [{ kind: "text", text: event.text }] }, append: begun };
        begun = true;
        return;
      case "turn.started":
        if (event.path === state.plan?.output) begun = false; // what was said before a tool was used is not the result
        return;
      case "node.started":
      case "gate.answered":
      case "gate.opened":
        if (event.path === state.plan?.output || event.type !== "node.started") yield { kind: "status-update", ...ids, status: statusOf(state, seen()) };
        return;
      case "run.ended": {
        if (isStopped(event.outcome)) return;
        for (const artifact of artifactsOf(event.outcome)) yield { kind: "artifact-update", ...ids, artifact, append: false, lastChunk: true };
        const { status, metadata } = taskView(state, seen());
        yield { kind: "status-update", ...ids, status, ...(metadata && { metadata }) };
        return;
      }
      default:
        return;
    }
  };
}
