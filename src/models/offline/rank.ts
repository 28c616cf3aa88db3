import { defined } from "../../core/text/defined.ts";
import { DATA } from "./echoes.ts";
import type { Evidence } from "./evidence.ts";
import type { ParsedQuestion } from "./question.ts";
import type { Term } from "./terms.ts";

/** A file that may contain the answer, and its most relevant lines, best first. */
export type RankedFile = Readonly<{
  path: string;
  score: number;
  lines: readonly ScoredLine[];
  terms: readonly string[];
}>;

/** A line with its score and the name that it defines, if any. */
export type ScoredLine = Readonly<{ number: number; text: string; score: number; defines?: string }>;

/**
 * Ranks files by their relevance for these terms: rare terms count more, and several terms together count much more.
 */
export function ranked(evidence: Evidence, terms: readonly Term[], question: ParsedQuestion): RankedFile[] {
  const paths = [
    ...new Set([
      ...evidence.files.keys(),
      ...terms.flatMap(({ pattern }) => [...(evidence.counts.get(pattern)?.keys() ?? [])]),
    ]),
  ];
  const counts = new Map(terms.map((term) => [term, countsOf(term, paths, evidence)]));
  const rarity = new Map(
    terms.map((term) => [term, term.weight * Math.log(1 + (paths.length + 1) / ((counts.get(term)?.size ?? 0) + 0.5))]),
  );
  const places = paths.map((path) =>
    placeOf(path, evidence.files.get(path) ?? new Map(), { terms, counts, rarity, question }),
  );
  return places.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** The name that a line defines; in prose, the heading on it. */
export function definedIn(text: string): string | undefined {
  const head = text.slice(0, 300);
  for (const definition of DEFINITIONS) {
    const name = definition.exec(head)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

const DEFINITIONS = [
  /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|namespace)\s+([\w$]+)/,
  /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)/,
  /^\s*(?:pub(?:\([^)]*\))?\s+|async\s+|static\s+|unsafe\s+)*(?:def|fn|func|struct|trait|impl|mod|module|sub|defmodule|defp)\s+(?:\([^)]*\)\s*)?([\w$.]+)/,
  /^\s*(?:public|private|protected|internal|static|final|override|async|get|set|readonly)(?:\s+[\w<>[\],?]+)*?\s+(\w+)\s*\(/,
  /^\s*(?:async\s+)?\*?#?(?!(?:if|for|while|switch|return|catch|function|await|super|constructor)\b)(\w+)\([^()]*\)\s*(?::\s*[^{=]+)?\{\s*$/,
  /^(?:create|alter)\s+(?:or\s+replace\s+)?(?:table|view|function|index)\s+(?:if\s+not\s+exists\s+)?["`]?([\w.]+)/i,
  /^#{1,4}\s+(.{2,80})$/,
];

type Scale = Readonly<{
  terms: readonly Term[];
  /** How often each term occurs in each file that has it. */
  counts: ReadonlyMap<Term, ReadonlyMap<string, number>>;
  /** The weight of a term. A term that occurs in many files has little weight. */
  rarity: ReadonlyMap<Term, number>;
  question: ParsedQuestion;
}>;

function countsOf(term: Term, paths: readonly string[], { counts, files }: Evidence): Map<string, number> {
  const counted = new Map(counts.get(term.pattern));
  for (const path of paths) {
    if (counted.has(path)) continue;
    const seen = [...(files.get(path)?.values() ?? [])].filter((text) => term.either.test(text)).length;
    if (seen > 0) counted.set(path, seen);
  }
  return counted;
}

function placeOf(path: string, lines: ReadonlyMap<number, string>, scale: Scale): RankedFile {
  const { terms, rarity, counts } = scale;
  const scored = [...lines]
    .map(([number, text]) => scoredLine(number, text, { ...scale, lines }))
    .filter(({ score }) => score > 0);
  scored.sort((a, b) => b.score - a.score || a.number - b.number);
  const found = terms.filter((term) => counts.get(term)?.has(path));
  const worth = (term: Term): number => rarity.get(term) ?? 0;
  const breadth = (sum(found.map(worth)) / (sum(terms.map(worth)) || 1)) ** 2;
  const often = sum(found.map((term) => worth(term) * Math.log(1 + (counts.get(term)?.get(path) ?? 0))));
  const depth = sum(scored.slice(0, 5).map((line, n) => line.score / (n + 1)));
  const score = (often + depth + nameScore(path, scale)) * breadth * worthOf(path, scale.question);
  return { path, score, lines: scored, terms: found.map(({ name }) => name) };
}

type Seen = ReadonlyMap<number, string>;

/**
 * Scores a line by its own words, and by half for the words of the lines next to it. A definition also gets the score
 * of the comment above it, and the name that it defines scores highest.
 */
function scoredLine(number: number, text: string, { terms, rarity, lines }: Scale & { lines: Seen }): ScoredLine {
  const name = definedIn(text);
  const comment = name === undefined ? "" : commentAbove(number, lines);
  const beside = [number - 2, number - 1, number + 1, number + 2].map((near) => lines.get(near) ?? "").join("\n");
  const code = text.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '""');
  let score = 0;
  let own = 0;
  let near = 0;
  for (const term of terms) {
    const value = (where: string): number => (rarity.get(term) ?? 0) * (term.exact.test(where) ? 1 : 0.6);
    if (name !== undefined && term.either.test(name)) score += value(name) * (isCalled(name, term) ? 3.5 : 2.5);
    else if (term.either.test(comment)) score += value(comment) * 1.5;
    else if (term.either.test(code) || /^\s*[*/#-]/.test(text)) score += term.either.test(text) ? value(text) : 0;
    else if (term.either.test(text)) score += value(text) * 0.6; // in quotes: a text that the program displays
    if (term.either.test(text) || term.either.test(comment)) own++;
    else if (term.either.test(beside)) {
      near++;
      score += value(beside) * 0.5;
    }
  }
  const together = 1 + 0.5 * Math.max(0, own + 0.5 * near - 1);
  return {
    number,
    text,
    score: own === 0 ? 0 : score * together * kindOfLine(text),
    ...defined({ defines: name }),
  };
}

/** Whether a name is the term or one of its synonyms, with at most a short ending. */
function isCalled(name: string, { root, also }: Term): boolean {
  const plain = name.toLowerCase();
  return [root, ...also].some((word) => plain.startsWith(word.toLowerCase()) && plain.length <= word.length + 3);
}

const COMMENT = /^\s*(?:\/\*\*?|\*|\/\/|#(?!!))/;

function commentAbove(number: number, lines: Seen): string {
  const above: string[] = [];
  for (let at = number - 1; at > number - 15; at--) {
    const text = lines.get(at);
    if (text === undefined || !COMMENT.test(text)) break;
    above.push(text);
  }
  return above.join("\n");
}

/**
 * The weight of a line: definitions that others can call and explaining sentences count more than other code, imports
 * count least.
 */
function kindOfLine(text: string): number {
  if (/^\s*(?:import\b|from\s+\S+\s+import\b|export\s+(?:type\s+)?\{|use\s|#include|const\s.*=\s*require\()/.test(text))
    return 0.15;
  if (/^\s*(?:export\s+)?(?:declare\s+)?(?:type|interface)\s/.test(text)) return 0.8;
  if (/^(?:export\s+(?:default\s+)?(?:async\s+)?(?:function|class)\b|pub\s|public\s)/.test(text)) return 1.3;
  return /^\s*(?:\/\*\*|\*|\/\/|#|"""|<!--)/.test(text) ? 1.2 : 1;
}

/** The score of a file's name: a file named after the topic probably contains it. */
function nameScore(path: string, { terms, rarity }: Scale): number {
  const folders = path.split("/");
  const name = folders.pop() ?? "";
  const worth = (text: string, factor: number): number =>
    sum(
      terms
        .filter((term) => term.either.test(text))
        .map(
          (term) =>
            (term.exact.test(text) ? factor : 0.6 * factor) *
            (isCalled(text.split(".")[0] ?? "", term) ? 1.5 : 1) *
            (rarity.get(term) ?? 0),
        ),
    );
  return worth(name, 2.5) + worth(folders.join("/"), 0.7);
}

/** Kinds of files with a low score unless the question names them: lock files, generated files, tests, examples. */
const KINDS: readonly Readonly<{ path: RegExp; unless: RegExp; worth: number }>[] = [
  { path: /(?:^|\/)(?:package-lock\.json|[\w.-]+\.lock|pnpm-lock\.yaml|go\.sum)$/i, unless: /lock/i, worth: 0.02 },
  { path: /\.min\.\w+$|(?:^|\/)(?:dist|build|vendor|node_modules)\//, unless: /dist|build|vendor/i, worth: 0.1 },
  { path: /(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|LICENSE|NOTICE)/i, unless: /change|history|licen/i, worth: 0.1 },
  {
    path: /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|e2e)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_/i,
    unless: /\b(?:tests?|specs?|fixtures?)\b/i,
    worth: 0.25,
  },
  { path: /(?:^|\/)(?:examples?|bench(?:marks?)?|scripts?)\//i, unless: /example|bench|script/i, worth: 0.5 },
  { path: DATA, unless: /json|csv|ya?ml|toml|config|setting/i, worth: 0.35 },
  { path: /\.(?:md|mdx|rst|adoc)$/i, unless: /\bdocs?\b|document|readme|guide|prompt/i, worth: 0.45 },
];

function worthOf(path: string, { text }: ParsedQuestion): number {
  return KINDS.reduce(
    (worth, kind) => (kind.path.test(path) && !kind.unless.test(text) ? worth * kind.worth : worth),
    1,
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
