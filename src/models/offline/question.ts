import type { Message } from "../../core/model/model.ts";
import { prompts } from "../../embedded.ts";
import { teamPreface } from "../../modes/team.ts";
import { type Term, termsOf } from "./terms.ts";
import { withoutVoice } from "./voice.ts";
import { CHANGES } from "./words.ts";

/** A question, split into its clauses, the files that it names, and what it asks for. */
export type ParsedQuestion = Readonly<{
  /** The question on one line. */
  text: string;
  /** The parts of the question, each with its search terms. */
  clauses: readonly Clause[];
  /** Files that the question names. */
  paths: readonly string[];
  /** Lines that are not the question: results of other tasks, quoted files, long passages. */
  material: readonly string[];
  /** What the question asks for. `review`: a verdict; `change`: something is to be made or changed. */
  wants: "places" | "change" | "review";
}>;

export type Clause = Readonly<{ text: string; terms: readonly Term[] }>;

/** Parses a prompt. Only the first part of a long prompt counts as the question. */
export function questionOf(prompt: string): ParsedQuestion {
  const { asked, material } = parted(prompt);
  const paths = [...new Set(Array.from(asked.matchAll(PATH), ([path]) => path.replace(/^\.\//, "")))].slice(0, 4);
  const withoutPaths = asked.replace(PATH, " ");
  const clauses = clausesOf(withoutPaths);
  return { text: oneLine(asked), clauses, paths, material, wants: wishOf(prompt, asked) };
}

/** Finds the message that holds the task: the last user message that is more than a request for the result. */
export function taskIndex(messages: readonly Message[]): number {
  const isTask = (message: Message): boolean => message.role === "user" && !isDemand(message.text);
  const last = messages.findLastIndex(isTask);
  return last >= 0 ? last : messages.findIndex(({ role }) => role === "user");
}

/** Whether a message only asks for the result. */
export function isDemand(text: string): boolean {
  return DEMANDS.some((demand) => text.startsWith(demand));
}

const DEMANDS = [
  prompts.grace,
  prompts.remindEmpty,
  prompts.remindFinish,
  prompts.remindJson,
  prompts.remindVerdict,
].map((text) => text.slice(0, 30));

/** Matches a path that has a folder or ends with a common file extension. */
const PATH =
  /(?<![\w/.@:-])(?:\.\/)?(?:[\w@.-]+\/)+[\w.-]*\w|(?<![\w/.@:-])[\w-]+\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs?|cpp|h|php|md|json|ya?ml|toml|sh|sql|html|css)\b/g;

const MOST_ASKED = 1_200;
const MOST_CLAUSES = 4;

function parted(prompt: string): { asked: string; material: string[] } {
  const { plain, material } = withoutBlocks(withoutVoice(prompt.replace(prompts.attached, "")));
  const paragraphs = plain.split(/\n\s*\n/).map((text) => text.trim());
  const asked = paragraphs.filter((text) => text !== "" && !isFindings(text));
  material.push(...paragraphs.filter(isFindings).flatMap((text) => text.split("\n")));
  // The task is at the beginning or at the end of the prompt; the text between is attached material.
  const [first = "", ...more] = asked;
  const last = more.pop() ?? "";
  const between: string[] = [];
  let left = MOST_ASKED - first.length - last.length;
  for (const text of more) {
    left -= text.length + 2;
    (left >= 0 ? between : material).push(text);
  }
  const [head, tail] = [first.slice(0, MOST_ASKED), last.slice(0, MOST_ASKED)];
  material.push(...`${first.slice(MOST_ASKED)}\n${last.slice(MOST_ASKED)}`.split("\n"));
  return {
    asked: [head, ...between, tail].join("\n\n").trim(),
    material: material.filter((line) => line.trim() !== ""),
  };
}

/** Takes out fenced code, `<tag>` blocks, quotes, tables and the headings of attached files. */
function withoutBlocks(prompt: string): { plain: string; material: string[] } {
  const [plain, material]: [string[], string[]] = [[], []];
  let closing: string | undefined;
  for (const line of prompt.split("\n")) {
    const opens = /^(?:(`{3,}|~{3,})|<([\w-]+)(?:\s[^>]*)?>$)/.exec(line);
    if (closing !== undefined) {
      if (line.startsWith(closing)) closing = undefined;
      else material.push(line);
    } else if (opens !== null) closing = opens[1] ?? `</${opens[2]}>`;
    else if (isPreface(line)) continue;
    else if (/^(?:>|\||#{1,6} File: |---)/.test(line)) material.push(line);
    else plain.push(line);
  }
  return { plain: plain.join("\n"), material };
}

/** True for a line about the team of a task: it is not part of the question, so its words are not searched for. */
function isPreface(line: string): boolean {
  return Object.values(teamPreface).some((start) => line.startsWith(start));
}

/**
 * True for a paragraph in which most lines contain a reference such as `src/a.ts:12`. Such a paragraph counts as
 * findings that were attached to the task, not as part of the question.
 */
function isFindings(paragraph: string): boolean {
  const lines = paragraph.split("\n");
  return lines.filter((line) => /[\w/-]\.\w+:\d+|^\s*\d+\s{2}/.test(line.slice(0, 300))).length * 2 > lines.length;
}

function clausesOf(asked: string): Clause[] {
  const texts = asked.split(
    /[?!;]+\s*|\.\s+|\n+|,?\s+and\s+(?=(?:what|where|how|which|who|why|when|does|do|is|are|can)\b)/i,
  );
  const clauses: Clause[] = [];
  for (const text of texts) {
    const terms = termsOf(text, 6);
    if (terms.length === 0) continue;
    const isKnown = clauses.some((clause) =>
      terms.every(({ root }) => clause.terms.some((term) => term.root === root)),
    );
    if (!isKnown && clauses.length < MOST_CLAUSES) clauses.push({ text: oneLine(text), terms });
  }
  return clauses;
}

function wishOf(prompt: string, asked: string): ParsedQuestion["wants"] {
  if (prompt.includes("APPROVED") && prompt.includes("REVISION_NEEDED")) return "review";
  if (prompt.endsWith(prompts.reviewFields)) return "review";
  const first =
    /^(?:please|now|then|first|can you|could you|i want you to|i'd like you to)?[\s,:]*(\p{L}+)/iu.exec(
      asked.trim(),
    )?.[1] ?? "";
  return CHANGES.has(first.toLowerCase()) ? "change" : "places";
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
