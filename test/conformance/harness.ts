import { readFileSync } from "node:fs";
import { deviations } from "./deviations.ts";

/** One behaviour of one of the five systems, as data; `want` is the behaviour required of subcrew. */
export type Case<Input, Want> = Readonly<{
  file: CaseFile;
  area: string;
  name: string;
  input: Input;
  want: Want;
  note?: string;
}>;

/** The files of cases, one per system. */
export const caseFiles = ["000-omp", "001-pegasus", "002-mycode", "003-pi-parallel", "004-gemini"] as const;
export type CaseFile = (typeof caseFiles)[number];

/**
 * The cases of one area. The test states the types of the data, which are not checked. An area without cases is a
 * mistake of the test, so it throws.
 */
export function cases<Input, Want>(file: CaseFile, area: string): Case<Input, Want>[] {
  const found = records(file).filter((record) => record.area === area);
  if (found.length === 0) throw new Error(`${file} has no area "${area}"`);
  return found.map(({ name, input, note, ...record }) => ({
    file,
    area,
    name,
    input: input as Input,
    want: changed(wanted(file, { ...record, name }), { file, area, name }) as Want,
    ...(note !== undefined && { note }),
  }));
}

/** The cases of all files. */
export const allCases = (): Readonly<{ file: CaseFile; area: string; name: string }>[] =>
  caseFiles.flatMap((file) => records(file).map(({ area, name }) => ({ file, area, name })));

/** Returns true when a file has this case. */
export function hasCase(file: CaseFile, area: string, name: string): boolean {
  return records(file).some((record) => record.area === area && record.name === name);
}

/** The areas (groups of cases) in a file of cases, in the order in which they appear. */
export function areasOf(file: CaseFile | "reliability"): string[] {
  const rows = file === "reliability" ? reliability() : records(file);
  return [...new Set(rows.map((row) => row.area))];
}

/** The faults and attacks of one area: the setup, the action and the required result. */
export function faults(area: string): Fault[] {
  return reliability().filter((fault) => fault.area === area);
}

type Fault = Readonly<{
  id: string;
  area: string;
  severity: string;
  setup: string;
  action: string;
  required_outcome: string;
}>;
type CaseRecord = Readonly<{
  area: string;
  name: string;
  input: unknown;
  expected: unknown;
  recommended?: string;
  note?: string;
}>;

/**
 * The behaviour required of subcrew: our own value where we deviate, else the expected one. `recommended` is advice in
 * words, so deviations.ts has to state it as a value.
 */
function wanted(file: CaseFile, { area, name, expected, recommended }: Omit<CaseRecord, "input" | "note">): unknown {
  const deviation = deviations.find((entry) => entry.file === file && entry.area === area && entry.name === name);
  if (deviation && "ours" in deviation) return deviation.ours;
  if (recommended === undefined) return expected;
  throw new Error(`${file} ${area} "${name}" recommends: ${recommended}. Say in deviations.ts what ours does.`);
}

/** The cases of a file, and those of our own beside them, which have the same areas. */
function records(file: CaseFile): CaseRecord[] {
  return [...(load(file) as CaseRecord[]), ...(load(`more/${file}`) as CaseRecord[])];
}

function reliability(): Fault[] {
  return (load("reliability") as { public: Fault[] }).public;
}

function load(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), "utf8"));
}

/** An expected value that was changed, and its case. */
export type ChangedCase = Readonly<{ file: string; area: string; name: string; leaf: string }>;

type Pick = (leaves: number, about: string) => number;
let changing: Readonly<{ pick: Pick; changes: ChangedCase[] }> | undefined;
let trying = false;

/**
 * Changes one expected value of every case that is requested meanwhile: the one with the index that `pick` returns. A
 * case with fewer values stays as it is.
 */
export async function loadChanged<T>(
  pick: Pick,
  load: () => Promise<T>,
): Promise<Readonly<{ changes: readonly ChangedCase[]; tests: T }>> {
  const changes: ChangedCase[] = [];
  changing = { pick, changes };
  try {
    return { changes, tests: await load() };
  } finally {
    changing = undefined;
  }
}

/** Runs a test of changed cases. */
export async function tryChanged<T>(run: () => Promise<T>): Promise<T> {
  trying = true;
  try {
    return await run();
  } finally {
    trying = false;
  }
}

/** True when the expectations are changed, so that waiting until they hold is useless. */
export const isTryingChanges = (): boolean => trying;

/** An expectation with one leaf changed, if it has a leaf that can be changed. */
function changed(want: unknown, about: Readonly<{ file: string; area: string; name: string }>): unknown {
  if (changing === undefined) return want;
  const { pick, changes } = changing;
  let at = pick(leavesIn(want), `${about.file} ${about.area} ${about.name}`);
  const change = (value: unknown, path: string): unknown => {
    if (hasParts(value)) {
      const entries = Object.entries(value).map(([key, inner]) => [key, change(inner, `${path}.${key}`)] as const);
      return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
    }
    at -= 1;
    if (at !== -1) return value;
    changes.push({ ...about, leaf: `${path} = ${JSON.stringify(value)}` });
    return other(value);
  };
  return change(want, "");
}

const hasParts = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0;

const leavesIn = (value: unknown): number =>
  hasParts(value) ? Object.values(value).reduce((sum: number, inner) => sum + leavesIn(inner), 0) : 1;

/** A value that differs from this one. */
function other(value: unknown): unknown {
  if (typeof value === "string") return `${value} and more`;
  if (typeof value === "number") return value + 7;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return ["more"];
  return value === null ? "more" : { more: true };
}
