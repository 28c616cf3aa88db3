import type { Verdict } from "./verdict.ts";

/** A tool call that a person is asked to approve. */
export type Approval = Readonly<{
  agent: string;
  tool: string;
  /** The arguments with which the tool will be called. */
  input: unknown;
  verdict: Verdict;
  /** The change that the call would make, if it is known. */
  diff?: string;
  /** How commands are sandboxed, where relevant. */
  isolation?: string;
  /** True: the command needs the network, and the answer may grant it. */
  offersNetwork?: boolean;
}>;

/**
 * The question to the person, with the full tool call: nothing is shortened, and nothing can be hidden by control
 * characters, marks that reorder text, or thousands of spaces before the important part.
 */
export function approvalText({ agent, tool, input, verdict, diff, isolation, offersNetwork }: Approval): string {
  const why = verdict.why === "" ? "" : ` (${verdict.why})`;
  const parts = Object.entries(typeof input === "object" && input !== null ? input : { input });
  const shown = parts.map(([name, value]) =>
    field(name, typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined")),
  );
  return [
    `${visible(agent)} wants to use ${visible(tool)}${why}:`,
    ...shown,
    ...(diff === undefined ? [] : ["This changes the file as follows:", indented(diff)]),
    ...(isolation === undefined ? [] : [isolation]),
    ...(offersNetwork ? ["The command needs the network. It fails unless you allow network access."] : []),
  ].join("\n");
}

/** Text with invisible characters made visible; line ends are kept. */
export function visible(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replace(HIDDEN, (char) => (char === "\r" ? "\\r" : `\\u{${char.codePointAt(0)!.toString(16)}}`))
    .replace(MARKS, (marks) => `[${Array.from(marks).length} combining marks]`)
    .replace(/ {9,}/g, (blanks) => `[${blanks.length} blanks]`)
    .replace(/\t{5,}/g, (tabs) => `[${tabs.length} tabs]`)
    .replace(/\n{5,}/g, (ends) => `\n[${ends.length - 1} empty lines]\n`);
}

/** Matches more marks on one character than any language writes: they would cover the text above and below. */
const MARKS = /\p{M}{9,}/gu;

/** Matches control characters, unusual spaces, characters that join, hide or reorder text, and lone surrogates. */
const HIDDEN = new RegExp(
  `[${[
    "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180e",
    "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb",
    "\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\p{Surrogate}",
  ].join("")}]`,
  "gu",
);

/**
 * One argument of the call, as text for the person; a multi-line value is indented, so that it cannot be mistaken for
 * another part of the question. The name of the argument stays on one line, because the model writes it, too.
 */
function field(name: string, value: string): string {
  const shown = visible(value);
  const named = visible(name).replaceAll("\n", "\\n");
  const size = value.length > 2_000 ? ` (${value.length} characters)` : "";
  return shown.includes("\n") ? `  ${named}${size}:\n${indented(value)}` : `  ${named}${size}: ${shown}`;
}

const indented = (text: string): string => visible(text).replace(/^/gm, "    · ");
