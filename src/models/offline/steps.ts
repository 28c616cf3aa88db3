import type { ToolSpec } from "../../core/model.ts";
import { isRecord } from "../../core/json.ts";
import type { Evidence } from "./evidence.ts";
import type { Question } from "./question.ts";
import { definedIn, type Place, ranked } from "./rank.ts";
import type { Term } from "./terms.ts";

/** A tool call that is still without an id. */
export type Wish = Readonly<{ name: string; input: Readonly<Record<string, unknown>> }>;

/** Everything a step is decided from. */
export type Standing = Readonly<{ question: Question; evidence: Evidence; tools: readonly ToolSpec[] }>;

/** What to ask the tools for next; nothing when it is time to answer. */
export function nextCalls(standing: Standing): Wish[] {
  const { rounds } = standing.evidence;
  if (rounds.all >= MOST_ROUNDS || standing.question.wants === "review") return [];
  if (rounds.all === 0) return searches(standing);
  if (rounds.all === 1) return readings(standing);
  return rounds.all === 2 && rounds.read > 0 ? followings(standing) : [];
}

const MOST_ROUNDS = 3;
const MOST_READS = 8;

/** First, everything at once: each word, words together, definitions, file names, and the layout. */
function searches({ question, tools }: Standing): Wish[] {
  const terms = allTerms(question);
  if (terms.length === 0 && question.paths.length === 0) return [];
  const grep = (pattern: string, perFile: number): Wish => ({ name: "grep_files", input: { pattern, maxResults: 300, maxPerFile: perFile } });
  const wishes: Wish[] = question.paths.map((path) => ({ name: "read_file", input: { path, limit: 200 } }));
  if (terms.length > 0) {
    const words = terms.filter(({ pattern }) => !pattern.startsWith("(?i)"));
    if (words.length > 0) wishes.push(grep(`\\b(?:function|class|interface|type|const|enum|struct|trait|def|fn|func|module)\\b.*(?:${words.map(({ pattern }) => pattern).join("|")})`, 10));
    for (const clause of question.clauses) {
      const pairs = pairsOf(clause.terms.filter((term) => words.includes(term)).slice(0, 4));
      if (pairs !== "") wishes.push(grep(pairs, 10));
    }
    for (const { pattern } of terms) wishes.push(grep(pattern, 12));
    wishes.push({ name: "glob", input: { pattern: `*{${names(terms).join(",")}}*` } });
  }
  wishes.push({ name: "list_files", input: { depth: has(tools, "grep_files") ? 2 : 5 } });
  return possible(wishes, tools);
}

/** Second, the best files, around their best lines. */
function readings(standing: Standing): Wish[] {
  const { question, evidence, tools } = standing;
  const wishes: Wish[] = [];
  for (const { terms } of question.clauses) {
    for (const { path, lines } of ranked(evidence, terms, question).slice(0, 3)) {
      for (const number of apart(lines.slice(0, 6).map((line) => line.number)).slice(0, 2)) {
        wishes.push({ name: "read_file", input: { path, offset: Math.max(1, number - 8), limit: 40 } });
      }
    }
  }
  if (wishes.length === 0) wishes.push(...byName(standing).map((path) => ({ name: "read_file", input: { path, limit: 200 } })));
  return possible(wishes, tools).slice(0, MOST_READS);
}

/** Third, what the places found lead to: the files they import that are named after the matter, and who uses what they define. */
function followings({ question, evidence, tools }: Standing): Wish[] {
  const terms = allTerms(question);
  const known = new Set([...evidence.files.keys(), ...evidence.named]);
  const imports = new Set<string>();
  for (const path of evidence.read) {
    for (const text of evidence.files.get(path)?.values() ?? []) {
      const target = importedBy(path, text, known);
      if (target !== undefined && !evidence.read.has(target) && terms.some(({ exact }) => exact.test(target))) imports.add(target);
    }
  }
  const names = new Set(question.clauses.flatMap((clause) => topDefinitions(ranked(evidence, clause.terms, question), clause.terms)));
  return possible(
    [
      ...[...imports].slice(0, 3).map((path) => ({ name: "read_file", input: { path, limit: 60 } })),
      ...[...names].slice(0, 4).map((name) => ({ name: "grep_files", input: { pattern: `\\b${name}\\(`, maxResults: 40, maxPerFile: 4 } })),
    ],
    tools,
  );
}

/** The terms of all clauses, each once. */
export function allTerms({ clauses }: Question): Term[] {
  const found = new Map<string, Term>();
  for (const { terms } of clauses) for (const term of terms) if (!found.has(term.root)) found.set(term.root, term);
  return [...found.values()].sort((a, b) => b.weight - a.weight).slice(0, 10);
}

/** Names of functions in the best places that are named after the matter. */
function topDefinitions(places: readonly Place[], terms: readonly Term[]): string[] {
  return places.slice(0, 2).flatMap(({ lines }) =>
    lines
      .flatMap(({ text, defines }) => (defines !== undefined && /\bfunction\b|\bdef\b|\bfn\b|\bfunc\b|=>/.test(text) ? [defines] : []))
      .filter((name) => /^[\w$]+$/.test(name) && terms.some(({ either }) => either.test(name)))
      .slice(0, 2),
  );
}

/** Lines that contain two of the terms, in either order. */
function pairsOf(terms: readonly Term[]): string {
  const pairs: string[] = [];
  for (const [n, one] of terms.entries()) {
    for (const other of terms.slice(n + 1)) {
      const [first, second] = [one.exact.source, other.exact.source];
      pairs.push(`(?:${first}).*(?:${second})`, `(?:${second}).*(?:${first})`);
    }
  }
  return pairs.join("|");
}

function names(terms: readonly Term[]): string[] {
  const words = terms.flatMap(({ root, also }) => [root, ...also]).filter((word) => /^[\w-]{3,}$/.test(word));
  return words.flatMap((word) => [word, word.charAt(0).toUpperCase() + word.slice(1)]);
}

/** Of these lines the first, and those far enough from it that another look is needed. */
function apart(numbers: readonly number[]): number[] {
  const chosen: number[] = [];
  for (const number of numbers) if (chosen.every((other) => Math.abs(other - number) > 30)) chosen.push(number);
  return chosen;
}

/** Without a search by content, files whose names fit, from the search by name or the tree. */
function byName({ question, evidence }: Standing): string[] {
  const terms = allTerms(question);
  const paths = [...evidence.named, ...pathsIn(evidence.tree)].filter((path) => !evidence.read.has(path));
  return [...new Set(paths)].filter((path) => terms.some(({ either }) => either.test(path))).slice(0, MOST_READS);
}

/** The paths of the files in an indented tree. */
function pathsIn(tree: string): string[] {
  const folders: string[] = [];
  return tree.split("\n").flatMap((row) => {
    const depth = (row.length - row.trimStart().length) / 2;
    const name = row.trim();
    folders.length = depth;
    if (name.endsWith("/")) folders.push(name.slice(0, -1));
    return name === "" || /[/@]$|^\[/.test(name) ? [] : [[...folders, name].join("/")];
  });
}

/** The file that an import line leads to, if it is one that is known. */
function importedBy(path: string, text: string, known: ReadonlySet<string>): string | undefined {
  const target = /(?:from|import|require\()\s*["'](\.{1,2}\/[^"']+)["']/.exec(text)?.[1];
  if (target === undefined) return undefined;
  const steps = path.split("/").slice(0, -1);
  for (const step of target.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  }
  const base = steps.join("/");
  const candidates = [base, base.replace(/\.js$/, ".ts"), `${base}.ts`, `${base}.tsx`, `${base}.js`, `${base}/index.ts`];
  return candidates.find((candidate) => known.has(candidate));
}

const has = (tools: readonly ToolSpec[], name: string): boolean => tools.some((tool) => tool.name === name);

/** Only tools that are there, with only the arguments that they take. */
function possible(wishes: readonly Wish[], tools: readonly ToolSpec[]): Wish[] {
  const seen = new Set<string>();
  return wishes.flatMap(({ name, input }) => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) return [];
    const accepted = isRecord(tool.input.properties) ? tool.input.properties : {};
    const wish = { name, input: Object.fromEntries(Object.entries(input).filter(([key]) => key in accepted)) };
    const key = JSON.stringify(wish);
    return seen.has(key) ? [] : (seen.add(key), [wish]);
  });
}
