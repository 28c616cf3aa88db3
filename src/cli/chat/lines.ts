import { createInterface } from "node:readline/promises";

/** The typed lines, one by one; `undefined` at the end of the input. */
export type InputLines = Readonly<{
  next(): Promise<string | undefined>;
  close(): Promise<void>;
}>;

/** Reads lines from a pipe or a file, or from a terminal that cannot redraw. The terminal gets a prompt. */
export function pipedLines(input: NodeJS.ReadableStream, prompt = ""): InputLines {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const each = lines[Symbol.asyncIterator]();
  return {
    next: async () => {
      if (prompt !== "") process.stderr.write(prompt);
      input.resume(); // whoever read the keys of the terminal in between has paused it
      const { value, done } = await each.next();
      return done ? undefined : value;
    },
    close: async () => lines.close(),
  };
}
