import type { Usage } from "../../core/outcome/usage.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";
import type { Bounds, ToolRestrictions } from "./bounds.ts";

/** An external tool that can run a task: its command line, the restrictions it can enforce, and a parser for its output. */
export type ForeignTool = Readonly<{
  /** The name of the program in PATH. */
  program: string;
  /** How to install it. */
  install: string;
  /** Environment variables that it needs besides the default ones: keys, addresses, the place of its settings. */
  variables: readonly string[];
  keeps: ToolRestrictions;
  /** Files of a project that it obeys, hooks and servers among them, and that no flag of its makes it ignore. */
  obeys?: readonly string[];
  /** Pure: the command line for a task. */
  translate(asked: ForeignTask): Invocation;
  /** Parses its output, one JSON value after the other. */
  reader(heard: ToolListener): (value: Readonly<Record<string, unknown>>) => void;
  /** What the file of usage says, at the end of the tool; the whole counts for the turn that is open then. */
  usageIn?(value: unknown): Readonly<{ usage: Partial<Usage>; model?: string }>;
}>;

/** A task in the form that an external tool gets. */
export type ForeignTask = Readonly<{
  prompt: string;
  instructions: string;
  cwd: string;
  /** The requested model; absent: the tool's default. */
  model?: string;
  thinking?: Thinking;
  bounds: Bounds;
  /** Folders besides the working folder that may be written. */
  roots: readonly string[];
  /** A file of ours, for tools that want their rules in one. */
  rulesFile: string;
  /** A file of ours, for tools that write what they used into one. */
  usageFile: string;
}>;

export type Invocation = Readonly<{
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The text for its standard input. */
  input?: string;
  /** The content of the rules file. */
  rules?: string;
}>;

/** Callbacks for the progress of a tool. A turn begins with the first text or call after the previous turn. */
export type ToolListener = Readonly<{
  /** A piece of text while it is written. */
  text(piece: string): void;
  thinking(piece: string): void;
  call(call: Readonly<{ id: string; name: string; input?: unknown }>): void;
  result(id: string, result: Readonly<{ text: string; error?: boolean }>): void;
  /** The turn is over; `text` is all of it, where it did not come in pieces. */
  turnEnded(turn?: Readonly<{ text?: string; usage?: Partial<Usage>; usd?: number; model?: string }>): void;
  /** The explicit answer, when it differs from the text of the last turn. */
  answer(text: string): void;
  /** The tool reports that it failed. */
  failed(message: string, limit?: "MAX_TURNS"): void;
}>;

/** The field of something that may be anything. */
export const field = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[name] : undefined),
    value,
  );

export const textIn = (value: unknown, ...path: readonly string[]): string => {
  const found = field(value, ...path);
  return typeof found === "string" ? found : "";
};

export const numberIn = (value: unknown, ...path: readonly string[]): number => {
  const found = field(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : 0;
};

export const listIn = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = field(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** The id behind `provider/model` for a tool that only has this provider's. */
export const withoutProvider = (model: string, ...providers: readonly string[]): string =>
  providers.reduce(
    (name, provider) => (name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name),
    model,
  );

/** Instructions and task in one text, for tools without a system prompt. */
export const together = ({ instructions, prompt }: Pick<ForeignTask, "instructions" | "prompt">): string =>
  instructions.trim() === "" ? prompt : `${instructions.trim()}\n\n${prompt}`;
