import { cutHead } from "../../core/text/cut.ts";
import type { Evidence } from "./evidence.ts";
import type { ParsedQuestion } from "./question.ts";
import type { ReportedPlace, Section } from "./report.ts";
import { allTerms } from "./steps.ts";
import { SEARCHED, VERDICT } from "./voice.ts";

/** The data that an answer of the offline model is composed of. */
export type AnswerParts = Readonly<{
  question: ParsedQuestion;
  evidence: Evidence;
  sections: readonly Section[];
  /** Lines quoted from texts that were attached to the task. */
  quoted: readonly string[];
  /** Whether there was a tool to search with. */
  canSearch: boolean;
}>;

/** The full answer: what was searched, and the places with their lines. */
export function answerText(answer: AnswerParts): string {
  const { question, sections, quoted } = answer;
  const found = sections.some(({ findings }) => findings.length > 0);
  return [
    ...wishText(question),
    searchedText(answer),
    ...(found
      ? [sections.map((section) => sectionText(section, sections.length > 1)).join("\n\n")]
      : [nothingText(answer)]),
    ...(quoted.length > 0
      ? [`From the text that came with the task:\n${quoted.map((line) => `> ${short(line, 200)}`).join("\n")}`]
      : []),
    ...(question.wants === "review" ? [VERDICT] : []),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** The answer of the offline model in one sentence. */
export function summaryText({ question, sections, quoted, canSearch }: AnswerParts): string {
  const best = sections.flatMap(({ findings }) => findings.slice(0, 2).map(named));
  const places = [...new Set(best)].slice(0, 4);
  if (places.length > 0)
    return `Offline text search, no reasoning. Likely places for "${short(question.text, 120)}": ${places.join(", ")}.`;
  if (quoted.length > 0)
    return `Offline model, no reasoning. Lines quoted from the text that came with the task: ${quoted.length}.`;
  return canSearch
    ? `Offline text search, no reasoning. Nothing was found for "${short(question.text, 120)}".`
    : "Offline model: the agent has no search tool, so nothing was found.";
}

/** The tool calls so far, as a list of steps. */
export function stepsText({ question, evidence }: AnswerParts): string[] {
  const terms = allTerms(question).map(({ name }) => name);
  return [
    ...(terms.length > 0 && evidence.rounds.searched > 0 ? [`searched for ${terms.join(", ")}`] : []),
    ...[...evidence.read].map((path) => `read ${path}`),
    ...evidence.failures.slice(0, 3).map(({ tool, reason }) => `${tool} failed: ${short(reason, 120)}`),
  ];
}

function wishText({ wants }: ParsedQuestion): string[] {
  return wants === "change"
    ? ["The offline model cannot write or change anything. These are places to start from."]
    : [];
}

function searchedText({ question, evidence, canSearch }: AnswerParts): string {
  const terms = allTerms(question);
  if (terms.length === 0 || evidence.rounds.all === 0 || !canSearch) return "";
  const files = new Set([
    ...evidence.files.keys(),
    ...[...evidence.counts.values()].flatMap((each) => [...each.keys()]),
  ]);
  const unmatched = terms.filter(({ pattern }) => evidence.counts.get(pattern)?.size === 0).map(({ name }) => name);
  return [
    `${SEARCHED} ${terms.map(({ name, also }) => (also.length > 0 ? `${name} (also ${also.join(", ")})` : name)).join("; ")}.`,
    `Files with matches: ${files.size}, read: ${evidence.read.size}.`,
    ...(unmatched.length > 0 ? [`Nowhere: ${unmatched.join(", ")}.`] : []),
    ...(evidence.failures.length > 0
      ? [`Calls that failed: ${evidence.failures.length} (${short(evidence.failures[0]?.reason ?? "", 160)}).`]
      : []),
  ].join(" ");
}

function nothingText({ question, evidence, quoted, canSearch }: AnswerParts): string {
  if (question.wants === "review") return "";
  if (allTerms(question).length === 0 && question.paths.length === 0) {
    return quoted.length > 0
      ? ""
      : "The question contains no words to search for. Use words that occur in this project: names, files, messages.";
  }
  if (!canSearch) return "The agent has no search tool: give the agent grep_files, glob, list_files or read_file.";
  const top = evidence.tree.split("\n").filter((row) => row !== "" && !/^\s|^\[.*\]$/.test(row));
  const holds =
    top.length > 0
      ? ` The folder holds: ${top.slice(0, 12).join(", ")}${top.length > 12 ? ", ..." : ""}`
      : evidence.tree.startsWith(EMPTY_FOLDER)
        ? " The folder seems to be empty."
        : "";
  return `Nothing was found. Try other words, or names as they are written in the code.${holds}`;
}

/** How `list_files` begins its answer about an empty folder. */
const EMPTY_FOLDER = "[the folder is empty";

function sectionText({ title: asked, findings, more }: Section, titled: boolean): string {
  const title = titled ? [`## ${/[/.]/.test(asked) ? asked : asked.charAt(0).toUpperCase() + asked.slice(1)}`] : [];
  const rows = findings.map((finding, n) => findingText(finding, n + 1));
  const also = more.length > 0 ? [`Also: ${more.join(", ")}`] : [];
  return [...title, ...(rows.length > 0 ? rows : ["Nothing was found for this part."]), ...also].join("\n\n");
}

function findingText(finding: ReportedPlace, number: number): string {
  const width = Math.max(...finding.lines.map((line) => String(line.number).length));
  const lines = finding.lines.map(
    (line) => `   ${String(line.number).padStart(width)}  ${short(line.text.trimEnd(), 160)}`,
  );
  return [`${number}. ${named(finding)} (${finding.reason})`, ...lines].join("\n");
}

function named({ path, line, symbol }: ReportedPlace): string {
  return symbol === undefined ? `${path}:${line}` : `${path}:${line} ${symbol}`;
}

function short(text: string, chars: number): string {
  const { text: head, cut } = cutHead(text, chars);
  return cut ? `${head}...` : head;
}
