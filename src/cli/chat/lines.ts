import { createInterface } from "node:readline/promises";

/** What a person types, line by line; `undefined` when there is no more. */
export type InputLines = Readonly<{
  next(): Promise<string | undefined>;
  close(): Promise<void>;
}>;

/** The lines of a pipe or a file, or of a terminal that cannot redraw, which gets a prompt. */
export function pipedLines(input: NodeJS.ReadableStream, prompt = ""): InputLines {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const each = lines[Symbol.asyncIterator]();
  return {
    next: async () => {
      if (prompt !== "") process.stderr.write(prompt);
      const { value, done } = await each.next();
      return done ? undefined : value;
    },
    close: async () => lines.close(),
  };
}
