import type { IncomingMessage } from "node:http";

/** When more characters wait to be read, the provider has to wait, too. */
const MOST_WAITING = 1 << 20;

/**
 * The body of an answer as it arrives; what has arrived since the last look is one piece. The iterator of a stream costs several
 * times as much for each piece and each answer. It does not close the answer of which the reader has enough.
 */
export function readPieces(answer: IncomingMessage): AsyncIterable<string> {
  let waiting = "";
  let over: Readonly<{ error?: Error }> | undefined;
  let give: Readonly<{ resolve(piece: IteratorResult<string>): void; reject(error: Error): void }> | undefined;
  const serve = (): void => {
    if (!give || (waiting === "" && !over)) return;
    const { resolve, reject } = give;
    give = undefined;
    const value = waiting;
    waiting = "";
    if (value !== "") resolve({ done: false, value });
    else if (over?.error) reject(over.error);
    else resolve({ done: true, value: undefined });
  };
  const end = (error?: Error): void => {
    over ??= error ? { error } : {};
    serve();
  };
  answer.setEncoding("utf8");
  answer.on("error", end);
  answer.on("end", () => end());
  answer.on("close", () => end(new Error("aborted"))); // without an end before
  answer.on("data", (piece: string) => {
    waiting += piece;
    if (waiting.length > MOST_WAITING) answer.pause();
    serve();
  });
  const next = (): Promise<IteratorResult<string>> =>
    new Promise((resolve, reject) => {
      give = { resolve, reject };
      serve();
      if (answer.isPaused()) answer.resume();
    });
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
