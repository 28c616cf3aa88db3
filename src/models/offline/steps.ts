import type { ToolSpec } from "../../core/model/model.ts";
import { isRecord } from "../../core/text/json.ts";
import type { Evidence } from "./evidence.ts";
import { importedBy, pathsIn } from "./paths.ts";
import type { ParsedQuestion } from "./question.ts";
import { type RankedFile, ranked } from "./rank.ts";
import type { Term } from "./terms.ts";

/** A planned tool call, which has no id yet. */
export type PlannedCall = Readonly<{ name: string; input: Readonly<Record<string, unknown>> }>;

/** The data from which the offline model decides its next step. */
export type StepContext = Readonly<{ question: ParsedQuestion; evidence: Evidence; tools: readonly ToolSpec[] }>;

/** The next tool calls of the offline model; empty when it is time to answer. */
export function nextCalls(standing: StepContext): PlannedCall[] {
  const { rounds } = standing.evidence;
  if (rounds.all >= MOST_ROUNDS || standing.question.wants === "review") return [];
  if (rounds.all === 0) return searches(standing);
  if (rounds.all === 1) return readings(standing);
  return rounds.all === 2 && rounds.read > 0 ? followings(standing) : [];
}

const MOST_ROUNDS = 3;
const MOST_READS = 12;
/**
 * The length up to which a file is read whole. Of a longer file, the beginning and the lines around the best match are
 * read.
 */
const WHOLE_LINES = 200;

/**
 * First step of the offline model, in one turn: searches for each word, word pairs, definitions and file names, and
 * lists the folder.
 */
function searches({ question, tools }: StepContext): PlannedCall[] {
  const terms = allTerms(question);
  if (terms.length === 0 && question.paths.length === 0) return [];
  const wishes: PlannedCall[] = question.paths.map((path) => ({ name: "read_file", input: { path, limit: 200 } }));
  if (terms.length > 0) {
    const words = terms.filter(({ pattern }) => !pattern.startsWith("(?i)"));
    for (const clause of question.clauses) {
      const own = words.filter((term) => clause.terms.some(({ root }) => root === term.root));
      const pairs = pairsOf(own.slice(0, 4));
      if (own.length > 0)
        wishes.push(definitions({ rest: `.*(?:${own.map(({ pattern }) => pattern).join("|")})`, maxResults: 400 }));
      if (pairs !== "") wishes.push(grep({ pattern: pairs, maxPerFile: 10 }));
    }
    for (const { pattern } of terms)
      wishes.push({ name: "grep_files", input: { pattern, filesOnly: true, maxResults: 1_000 } });
    wishes.push({ name: "glob", input: { pattern: `*{${names(terms).join(",")}}*` } });
  }
  wishes.push({ name: "list_files", input: { depth: has(tools, "grep_files") ? 2 : 5 } });
  return possible(wishes, tools);
}

/** Second step of the offline model: reads the best files around their best lines. */
function readings(standing: StepContext): PlannedCall[] {
  const { question, evidence, tools } = standing;
  const wishes: PlannedCall[] = [];
  const most = Math.ceil(MOST_READS / question.clauses.length);
  for (const { terms } of question.clauses) {
    for (const { path, lines } of ranked(evidence, terms, question).slice(0, most)) {
      if (lines.length === 0)
        wishes.push(
          grep({
            path,
            pattern: terms.map(({ pattern }) => pattern.replace("(?i)", "")).join("|"),
            maxResults: 20,
            context: 1,
          }),
        );
      const deep = lines
        .slice(0, 6)
        .map(({ number }) => number)
        .filter((number) => number > WHOLE_LINES);
      wishes.push({ name: "read_file", input: { path, limit: WHOLE_LINES } });
      for (const number of apart(deep).slice(0, 1))
        wishes.push({ name: "read_file", input: { path, offset: Math.max(1, number - 20), limit: 60 } });
    }
  }
  if (wishes.length === 0)
    wishes.push(...byName(standing).map((path) => ({ name: "read_file", input: { path, limit: 200 } })));
  return possible(wishes, tools).slice(0, 2 * MOST_READS);
}

/**
 * Third step of the offline model: reads files that the matches import, and functions that they call whose names
 * contain a search term.
 */
function followings({ question, evidence, tools }: StepContext): PlannedCall[] {
  const terms = allTerms(question);
  const isNamed = (name: string): boolean => terms.some(({ either }) => either.test(name));
  const known = new Set([...evidence.files.keys(), ...evidence.named]);
  const imports = new Set<string>();
  for (const path of evidence.read) {
    for (const text of evidence.files.get(path)?.values() ?? []) {
      const target = importedBy(path, text, known);
      if (target !== undefined && !evidence.read.has(target) && isNamed(target.slice(target.lastIndexOf("/"))))
        imports.add(target);
    }
  }
  const best = question.clauses.flatMap((clause) => ranked(evidence, clause.terms, question).slice(0, 3));
  const called = new Set(best.flatMap((place) => callsIn(place, evidence)).filter(isNamed));
  const wishes: PlannedCall[] = [...imports]
    .slice(0, 4)
    .map((path) => ({ name: "read_file", input: { path, limit: 60 } }));
  if (called.size > 0)
    wishes.push(definitions({ rest: `\\s+(?:${[...called].slice(0, 10).join("|")})\\b`, context: 2, maxResults: 100 }));
  return possible(wishes, tools);
}

const grep = (
  input: Readonly<{ pattern: string; path?: string; maxPerFile?: number; context?: number; maxResults?: number }>,
): PlannedCall => ({
  name: "grep_files",
  input: { maxResults: 300, ...input },
});

/** A search pattern for lines that define something with one of the terms in its name. */
const definitions = ({
  rest,
  ...input
}: Readonly<{ rest: string; context?: number; maxResults: number }>): PlannedCall =>
  grep({
    pattern: `\\b(?:function\\*?|class|interface|type|const|enum|struct|trait|def|fn|func|module)\\b${rest}`,
    maxPerFile: 4,
    ...input,
  });

/** The terms of all clauses, each once. */
export function allTerms({ clauses }: ParsedQuestion): Term[] {
  const found = new Map<string, Term>();
  for (const { terms } of clauses) for (const term of terms) if (!found.has(term.root)) found.set(term.root, term);
  return [...found.values()].sort((a, b) => b.weight - a.weight).slice(0, 10);
}

/** The names that the code at a place calls, judging by the lines that tools have shown. */
function callsIn({ path }: RankedFile, { files }: Evidence): string[] {
  const text = [...(files.get(path)?.values() ?? [])].join("\n");
  return Array.from(text.matchAll(/(?<![\w$])([A-Za-z_]\w{2,60})\(/g), ([, name]) => name ?? "");
}

/** A search pattern for lines that contain two of the terms, in either order. */
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

/**
 * Selects line numbers that are more than 30 lines apart: the first one, and each later one that is that far away from
 * all selected ones.
 */
function apart(numbers: readonly number[]): number[] {
  const chosen: number[] = [];
  for (const number of numbers) if (chosen.every((other) => Math.abs(other - number) > 30)) chosen.push(number);
  return chosen;
}

/** Files whose names match, from a search by name or the tree; used when no search by content is possible. */
function byName({ question, evidence }: StepContext): string[] {
  const terms = allTerms(question);
  const paths = [...evidence.named, ...pathsIn(evidence.tree)].filter((path) => !evidence.read.has(path));
  return [...new Set(paths)].filter((path) => terms.some(({ either }) => either.test(path))).slice(0, MOST_READS);
}

const has = (tools: readonly ToolSpec[], name: string): boolean => tools.some((tool) => tool.name === name);

/** Drops calls of missing tools and arguments that a tool does not accept. */
function possible(wishes: readonly PlannedCall[], tools: readonly ToolSpec[]): PlannedCall[] {
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
