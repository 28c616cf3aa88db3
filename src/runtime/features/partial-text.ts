import type { Delta, Fact } from "../../core/run/event.ts";
import type { Feature } from "./feature.ts";

/** Minimum interval between records of a streaming answer. */
const EVERY_MS = 1_000;

export const partialTextFeature: Feature = {
  name: "partial text",
  does: "records the text of an unfinished answer every second, so that it survives an interruption",
  open: () => {
    let partials: PartialTurns | undefined;
    return {
      outlets: ({ emit, live }) => {
        const own = createPartialTurns(emit);
        partials = own;
        return {
          emit: (path, fact) => {
            own.before(path, fact);
            emit(path, fact);
          },
          live: (path, delta) => {
            own.shown(path, delta);
            live(path, delta);
          },
        };
      },
      close: () => partials?.stop(),
    };
  },
};

/** Records streaming answers periodically. */
type PartialTurns = Readonly<{
  /** Updates the unfinished answers before this event is recorded. */
  before(path: string, fact: Fact): void;
  /** Adds streamed text to the unfinished answer of a task; it is recorded at most a second later. */
  shown(path: string, delta: Delta): void;
  /** Records the rest of unfinished answers and stops. */
  stop(): void;
}>;

type OpenAnswer = { turn: number; text: string; timer: NodeJS.Timeout | undefined };

function createPartialTurns(emit: (path: string, fact: Fact) => void): PartialTurns {
  const open = new Map<string, OpenAnswer>();
  let over = false;
  const flush = (path: string, answer: OpenAnswer): void => {
    clearTimeout(answer.timer);
    answer.timer = undefined;
    const { turn, text } = answer;
    answer.text = "";
    if (text !== "") emit(path, { type: "turn.partial", turn, text });
  };
  const end = (path: string, keep: boolean): void => {
    const answer = open.get(path);
    if (!answer) return;
    open.delete(path);
    if (keep) flush(path, answer);
    else clearTimeout(answer.timer);
  };
  const stop = (): void => {
    over = true;
    for (const path of [...open.keys()]) end(path, true);
  };
  return {
    before: (path, fact) => {
      if (fact.type === "turn.started") {
        end(path, true);
        open.set(path, { turn: fact.turn, text: "", timer: undefined });
      } else if (fact.type === "turn.ended" || fact.type === "turn.restarted") {
        end(path, false);
      } else if (fact.type === "node.ended" || fact.type === "node.retried") {
        end(path, true);
      } else if (fact.type === "run.paused") {
        stop();
      }
    },
    shown: (path, delta) => {
      const answer = delta.type === "text.delta" && !over ? open.get(path) : undefined;
      if (!answer) return;
      answer.text += delta.text;
      // Without `unref` a process that has nothing else to do would live for another second.
      answer.timer ??= setTimeout(() => flush(path, answer), EVERY_MS).unref();
    },
    stop,
  };
}
