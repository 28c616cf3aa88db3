import type { Message, ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { isRecord } from "../../core/text/json.ts";

/** A line of a file, as a tool printed it. */
export type ShownLine = Readonly<{ path: string; number: number; text: string }>;

/** Everything that tools have returned in this task. */
export type Evidence = Readonly<{
  /** All lines that tools returned, by path and then by line number. */
  files: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** By pattern: how many lines match it in each file. */
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The files that were read and not only searched. */
  read: ReadonlySet<string>;
  /** File names found by a search by name. */
  named: readonly string[];
  /** The folder as a tree, if it was listed. */
  tree: string;
  /** Calls that failed, with the reason. */
  failures: readonly Readonly<{ tool: string; reason: string }>[];
  /** How many tool calls of each kind were made. */
  rounds: Readonly<{ searched: number; read: number; all: number }>;
  /** How many results of the model were rejected so far. */
  rejected: number;
}>;

/** Collects the tool results in the messages after the prompt. */
export function evidenceFrom(messages: readonly Message[], isFinish: (name: string) => boolean): Evidence {
  const files = new Map<string, Map<number, string>>();
  const counts = new Map<string, ReadonlyMap<string, number>>();
  const read = new Set<string>();
  const named: string[] = [];
  const failures: { tool: string; reason: string }[] = [];
  let tree = "";
  let rejected = 0;
  const see = ({ path, number, text }: ShownLine): void => {
    const lines = files.get(path) ?? new Map<number, string>();
    files.set(path, lines.set(number, text));
  };
  for (const { call, answer } of exchanges(messages)) {
    if (isFinish(call.name)) rejected += answer.error ? 1 : 0;
    else if (answer.error) failures.push({ tool: call.name, reason: answer.text.split("\n")[0] ?? "" });
    else if (call.name === "grep_files" && argument(call, "filesOnly") === true)
      counts.set(String(argument(call, "pattern")), countsIn(answer.text));
    else if (call.name === "grep_files") linesFound(answer.text).forEach(see);
    else if (call.name === "glob") named.push(...rowsOf(answer.text));
    else if (call.name === "list_files") tree ||= answer.text;
    else if (call.name === "read_file") {
      const path = String(argument(call, "path")).replace(/^\.\//, "");
      linesRead(path, answer.text).forEach(see);
      read.add(path);
    }
  }
  return { files, counts, read, named, tree, failures, rejected, rounds: roundsOf(messages) };
}

/** Pairs each tool call with its result. */
export function* exchanges(messages: readonly Message[]): Generator<{ call: ToolCall; answer: ToolAnswer }> {
  const calls = new Map<string, ToolCall>();
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.calls) calls.set(call.id, call);
    if (message.role !== "tool") continue;
    for (const answer of message.results) {
      const call = calls.get(answer.id);
      if (call !== undefined) yield { call, answer };
    }
  }
}

function roundsOf(messages: readonly Message[]): Evidence["rounds"] {
  const turns = messages.filter((message) => message.role === "assistant");
  const having = (...names: readonly string[]): number =>
    turns.filter(({ calls }) => calls.some(({ name }) => names.includes(name))).length;
  return { searched: having("grep_files", "glob", "list_files"), read: having("read_file"), all: turns.length };
}

/** The lines of a tool's output, without the remarks in brackets that tools add. */
const rowsOf = (text: string): string[] => text.split("\n").filter((row) => row !== "" && !row.startsWith("["));

function linesFound(text: string): ShownLine[] {
  return rowsOf(text).flatMap((row) => {
    const [, path, number, found] = /^(.+?):(\d+): (.*)$/.exec(row) ?? /^(.+?)-(\d+)- (.*)$/.exec(row) ?? [];
    return path === undefined ? [] : [{ path, number: Number(number), text: found ?? "" }];
  });
}

function linesRead(path: string, text: string): ShownLine[] {
  return rowsOf(text).flatMap((row) => {
    const [, number, found] = /^(\d+)\t(.*)$/.exec(row) ?? [];
    return number === undefined ? [] : [{ path, number: Number(number), text: found ?? "" }];
  });
}

function countsIn(text: string): Map<string, number> {
  return new Map(
    rowsOf(text).flatMap((row) => {
      const [, path, count] = /^(.+): (\d+)$/.exec(row) ?? [];
      return path === undefined ? [] : [[path, Number(count)] as const];
    }),
  );
}

const argument = ({ input }: ToolCall, name: string): unknown => (isRecord(input) ? input[name] : undefined);
