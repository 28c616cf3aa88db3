import type { Usage } from "../../core/outcome/usage.ts";
import type { Thinking } from "../../core/vocabulary/thinking.ts";
import type { Bounds, ToolRestrictions } from "./bounds.ts";

/**
 * An external agent program that can run a task: its command line, the restrictions it can enforce, and a parser for
 * its output.
 */
export type ForeignTool = Readonly<{
  /** How to install the program. */
  install: string;
  /**
   * Environment variables that the program needs in addition to the default variables: keys, addresses, the path of its
   * settings.
   */
  variables: readonly string[];
  keeps: ToolRestrictions;
  /** Project files that the program uses, including hooks and servers, although no flag can make it ignore them. */
  obeys?: readonly string[];
  /** The command line for a task; a function without side effects. */
  translate(asked: ForeignTask): Invocation;
  /** Parses the program's output, one JSON value after the other. */
  reader(heard: ToolListener): (value: Readonly<Record<string, unknown>>) => void;
  /** Parses the usage file after the program has ended. The total is assigned to the turn that is still open. */
  usageIn?(value: unknown): Readonly<{ usage: Partial<Usage>; model?: string }>;
}>;

/** A task in the form that an external agent program gets. */
export type ForeignTask = Readonly<{
  prompt: string;
  instructions: string;
  cwd: string;
  /** The requested model; absent for the program's default. */
  model?: string;
  thinking?: Thinking;
  bounds: Bounds;
  /** Folders besides the working folder that may be written. */
  roots: readonly string[];
  /** A temporary file, for programs that read their rules from a file. */
  rulesFile: string;
  /** A temporary file, for programs that write their usage to a file. */
  usageFile: string;
}>;

export type Invocation = Readonly<{
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The text for the program's standard input. */
  input?: string;
  /** The content of the rules file. */
  rules?: string;
}>;

/** Callbacks for the progress of a program. A turn begins with the first text or call after the previous turn. */
export type ToolListener = Readonly<{
  /** Called with each piece of text while the program writes it. */
  text(piece: string): void;
  thinking(piece: string): void;
  call(call: Readonly<{ id: string; name: string; input?: unknown }>): void;
  result(id: string, result: Readonly<{ text: string; error?: boolean }>): void;
  /** Called when a turn has ended. `text` is its whole text if it was not streamed. */
  turnEnded(turn?: Readonly<{ text?: string; usage?: Partial<Usage>; usd?: number; model?: string }>): void;
  /** Called with the explicit answer, when it differs from the text of the last turn. */
  answer(text: string): void;
  /** Called when the program reports that it failed. */
  failed(message: string, limit?: "MAX_TURNS"): void;
}>;

/** A nested field of an unknown value; `undefined` when it does not exist. */
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

/** The model id without `provider/`, for a program that has only one provider. */
export const withoutProvider = (model: string, ...providers: readonly string[]): string =>
  providers.reduce(
    (name, provider) => (name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name),
    model,
  );

/** Joins instructions and task in one text, for programs without a system prompt. */
export const together = ({ instructions, prompt }: Pick<ForeignTask, "instructions" | "prompt">): string =>
  instructions.trim() === "" ? prompt : `${instructions.trim()}\n\n${prompt}`;
