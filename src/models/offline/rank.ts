import type { Evidence } from "./evidence.ts";
import type { Question } from "./question.ts";
import type { Term } from "./terms.ts";

/** A file that may hold the answer, and its lines that speak for it, best first. */
export type Place = Readonly<{ path: string; score: number; lines: readonly Scored[]; terms: readonly string[] }>;

/** A line, what it is worth, and the name that it defines, if it does. */
export type Scored = Readonly<{ number: number; text: string; score: number; defines?: string }>;

/** Files by how much they say about these terms: rare terms count more, several together much more. */
export function ranked(evidence: Evidence, terms: readonly Term[], question: Question): Place[] {
  const rarity = raritiesOf(evidence, terms);
  const places = [...evidence.files].map(([path, lines]) => placeOf(path, lines, { terms, rarity, question }));
  return places.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** The name that a line defines; in prose, its heading. */
export function definedIn(text: string): string | undefined {
  for (const definition of DEFINITIONS) {
    const name = definition.exec(text)?.[1];
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

type Scale = Readonly<{ terms: readonly Term[]; rarity: ReadonlyMap<Term, number>; question: Question }>;

function raritiesOf({ files }: Evidence, terms: readonly Term[]): Map<Term, number> {
  const texts = [...files].map(([path, lines]) => `${path}\n${[...lines.values()].join("\n")}`);
  return new Map(
    terms.map((term) => {
      const holding = texts.filter((text) => term.either.test(text)).length;
      return [term, term.weight * Math.log(1 + (texts.length + 1) / (holding + 0.5))];
    }),
  );
}

function placeOf(path: string, lines: ReadonlyMap<number, string>, scale: Scale): Place {
  const { terms, rarity } = scale;
  const scored = [...lines].map(([number, text]) => scoredLine(number, text, scale)).filter(({ score }) => score > 0);
  scored.sort((a, b) => b.score - a.score || a.number - b.number);
  const all = [...lines.values()].join("\n");
  const found = terms.filter((term) => term.either.test(all));
  const breadth = sum(found.map((term) => rarity.get(term) ?? 0)) * (found.length / Math.max(1, terms.length));
  const depth = sum(scored.slice(0, 4).map(({ score }) => score));
  const score = (2 * breadth + depth + nameScore(path, scale)) * worthOf(path, scale.question);
  return { path, score, lines: scored, terms: found.map(({ name }) => name) };
}

function scoredLine(number: number, text: string, { terms, rarity }: Scale): Scored {
  const name = definedIn(text);
  let score = 0;
  let count = 0;
  for (const term of terms) {
    if (!term.either.test(text)) continue;
    count++;
    const value = (rarity.get(term) ?? 0) * (term.exact.test(text) ? 1 : 0.6);
    score += name !== undefined && term.either.test(name) ? value * 2.5 : value;
  }
  if (count > 1) score *= 1 + 0.5 * (count - 1);
  return { number, text, score: score * kindOfLine(text), ...(name !== undefined && { defines: name }) };
}

/** A sentence that explains is worth more than a line of code, and an import says next to nothing. */
function kindOfLine(text: string): number {
  if (/^\s*(?:import\b|from\s+\S+\s+import\b|export\s+(?:type\s+)?\{|use\s|#include|const\s.*=\s*require\()/.test(text)) return 0.15;
  return /^\s*(?:\/\*\*|\*|\/\/|#|"""|<!--)/.test(text) ? 1.2 : 1;
}

/** A file that is named after the thing in question is likely its home. */
function nameScore(path: string, { terms, rarity }: Scale): number {
  const folders = path.split("/");
  const name = folders.pop() ?? "";
  const worth = (text: string, factor: number): number =>
    sum(terms.filter((term) => term.either.test(text)).map((term) => (term.exact.test(text) ? factor : 0.6 * factor) * (rarity.get(term) ?? 0)));
  return worth(name, 3) + worth(folders.join("/"), 0.7);
}

/** What is rarely meant counts little, unless the question names it. */
const KINDS: readonly Readonly<{ path: RegExp; unless: RegExp; worth: number }>[] = [
  { path: /(?:^|\/)(?:package-lock\.json|[\w.-]+\.lock|pnpm-lock\.yaml|go\.sum)$/i, unless: /lock/i, worth: 0.02 },
  { path: /\.min\.\w+$|(?:^|\/)(?:dist|build|vendor|node_modules)\//, unless: /dist|build|vendor/i, worth: 0.1 },
  { path: /(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|LICENSE|NOTICE)/i, unless: /change|history|licen/i, worth: 0.1 },
  { path: /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|e2e)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_/i, unless: /\b(?:tests?|specs?|fixtures?)\b/i, worth: 0.25 },
  { path: /(?:^|\/)(?:examples?|bench(?:marks?)?|scripts?)\//i, unless: /example|bench|script/i, worth: 0.5 },
  { path: /\.(?:json|jsonl|csv|ya?ml|toml|xml|svg|txt)$/i, unless: /json|csv|ya?ml|toml|config|setting/i, worth: 0.35 },
  { path: /\.(?:md|mdx|rst|adoc)$/i, unless: /\bdocs?\b|document|readme|guide|prompt/i, worth: 0.45 },
];

function worthOf(path: string, { text }: Question): number {
  return KINDS.reduce((worth, kind) => (kind.path.test(path) && !kind.unless.test(text) ? worth * kind.worth : worth), 1);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
