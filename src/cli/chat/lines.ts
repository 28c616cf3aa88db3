import { join } from "node:path";
import { createInterface, type Interface } from "node:readline/promises";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { quitOnKey } from "../terminal/keyboard.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";

/** What a person types, line by line; `undefined` when there is no more. */
export type InputLines = Readonly<{
  next(): Promise<string | undefined>;
  /** Prints something while a line is being typed, and leaves the line as it was. */
  interject(text: string): void;
  close(): Promise<void>;
}>;

/** The lines of a pipe or a file: no prompt, no history. */
export function pipedLines(input: NodeJS.ReadableStream): InputLines {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const each = lines[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { value, done } = await each.next();
      return done ? undefined : value;
    },
    interject: (text) => void process.stderr.write(`${text}\n`),
    close: async () => lines.close(),
  };
}

const MOST_KEPT = 500;
const CLEAR_LINE = "\r\u001b[K";

/** A prompt with completion, and with a history that the next conversation still knows. */
export async function promptedLines(home: string, words: () => Promise<readonly string[]>): Promise<InputLines> {
  const file = join(home, "chat-history.json");
  let history = await kept(file);
  let open: Interface | undefined;
  return {
    next: async () => {
      // Looked up before, so that whoever types on after Tab is not faster than the answer.
      const known = await words();
      const completer = (line: string): [string[], string] => {
        const begun = line.slice(line.lastIndexOf(" ") + 1);
        const fitting = begun === "" ? [] : known.filter((word) => word.startsWith(begun));
        return [fitting.map((word) => `${word} `), begun];
      };
      // One interface a line: between two lines the keyboard belongs to the run that is shown.
      const lines = createInterface({
        input: process.stdin,
        output: process.stderr,
        terminal: true,
        history,
        historySize: MOST_KEPT,
        removeHistoryDuplicates: true,
        completer,
      });
      open = lines;
      let warned = false;
      const gone = new AbortController();
      lines.on("history", (now) => (history = now));
      lines.once("close", () => gone.abort());
      quitOnKey(lines);
      lines.on("SIGINT", () => {
        if (lines.line === "" && warned) return lines.close();
        warned = lines.line === "";
        process.stderr.write(warned ? "\nPress Ctrl-C again, press Ctrl-D or type /exit to leave.\n" : "\n");
        lines.write(null, { ctrl: true, name: "e" });
        lines.write(null, { ctrl: true, name: "u" });
        lines.prompt();
      });
      try {
        return await lines.question("> ", { signal: gone.signal });
      } catch {
        process.stderr.write("\n");
        return undefined; // the input was closed
      } finally {
        open = undefined;
        lines.close();
      }
    },
    interject: (text) => {
      process.stderr.write(`${open ? CLEAR_LINE : ""}${text}\n`);
      open?.prompt(true);
    },
    close: async () => {
      await writeAtomic(file, `${JSON.stringify(history)}\n`).catch(() => {}); // a history is a comfort, no more
    },
  };
}

async function kept(file: string): Promise<string[]> {
  try {
    const value: unknown = JSON.parse(await readRegularText(file));
    return Array.isArray(value) ? value.filter((line) => typeof line === "string").slice(0, MOST_KEPT) : [];
  } catch {
    return [];
  }
}
