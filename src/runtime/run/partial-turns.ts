import type { Delta, Fact } from "../../core/run/event.ts";

/** Minimum interval between records of a streaming answer. */
const EVERY_MS = 1_000;

/** Records streaming answers periodically, so that their text survives an interruption. */
export type PartialTurns = Readonly<{
  /** Updates the unfinished answers before this event is recorded. */
  before(path: string, fact: Fact): void;
  /** Adds streamed text to the unfinished answer of a task; it is recorded at most a second later. */
  shown(path: string, delta: Delta): void;
  /** Records the rest of unfinished answers and stops. */
  stop(): void;
}>;

type OpenAnswer = { turn: number; text: string; timer: NodeJS.Timeout | undefined };

export function createPartialTurns(emit: (path: string, fact: Fact) => void): PartialTurns {
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
  return {
    before: (path, fact) => {
      if (fact.type === "turn.started") {
        end(path, true);
        open.set(path, { turn: fact.turn, text: "", timer: undefined });
      } else if (fact.type === "turn.ended" || fact.type === "turn.restarted") {
        end(path, false);
      } else if (fact.type === "node.ended" || fact.type === "node.retried") {
        end(path, true);
      }
    },
    shown: (path, delta) => {
      const answer = delta.type === "text.delta" && !over ? open.get(path) : undefined;
      if (!answer) return;
      answer.text += delta.text;
      // Without `unref` a process that has nothing else to do would live for another second.
      answer.timer ??= setTimeout(() => flush(path, answer), EVERY_MS).unref();
    },
    stop: () => {
      over = true;
      for (const path of [...open.keys()]) end(path, true);
    },
  };
}
