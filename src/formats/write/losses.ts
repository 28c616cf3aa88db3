import type { Agent } from "../../core/agent/agent.ts";
import type { ReadAgent } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";

/** One field that the target file format cannot express, or only approximately. */
export type Loss = Readonly<{
  /** The name of the field, or the key in the file if subcrew has no field for it. */
  field: string;
  kind: "dropped" | "approximated";
  was: unknown;
  /** The value before and after the conversion. */
  now?: unknown;
  note: string;
}>;

/**
 * The fields to compare; the compiler reports a field that is missing in this list. The spelling of a delegation tool
 * depends on the file format, so it is not compared.
 */
const fields: Readonly<Record<Exclude<keyof Agent, "source" | "limits" | "delegation" | "modelRequired">, true>> = {
  name: true,
  description: true,
  instructions: true,
  tools: true,
  disallowedTools: true,
  rules: true,
  spawns: true,
  delegationRule: true,
  modelLock: true,
  projectInstructions: true,
  mcpServers: true,
  model: true,
  thinking: true,
  output: true,
  outputName: true,
  completion: true,
  summaryChars: true,
  summaryCut: true,
  summary: true,
  extends: true,
  displayName: true,
  whenToUse: true,
  documentation: true,
  temperature: true,
  topP: true,
  permission: true,
  sandbox: true,
  skills: true,
  background: true,
  isolation: true,
  conversation: true,
  runner: true,
  memory: true,
  cacheMs: true,
  hidden: true,
  inputs: true,
  remote: true,
};
const FIELDS = Object.keys(fields) as (keyof typeof fields)[];

type Notes = Readonly<Partial<Record<keyof Agent, string>>>;

/** The differences between an agent and its conversion to another file format, field by field. */
export function lossesBetween(before: ReadAgent, after: ReadAgent, notes: Notes = {}): readonly Loss[] {
  const losses = FIELDS.flatMap((field) => lossOf(field, before.agent[field], after.agent[field], notes[field]));
  const [ours, theirs] = [before.agent.limits ?? {}, after.agent.limits ?? {}];
  const limits = Object.keys({ ...ours, ...theirs }) as (keyof typeof ours)[];
  losses.push(...limits.flatMap((name) => lossOf(`limits.${name}`, ours[name], theirs[name], notes.limits)));
  losses.push(...lossOf("disabled", before.disabled, after.disabled, "the target format cannot disable an agent"));
  const names =
    before.aliases?.filter((name) => !after.aliases?.includes(name) && name !== after.agent.displayName) ?? [];
  if (names.length > 0) losses.push({ field: "aliases", kind: "dropped", was: names, note: NO_PLACE });
  return losses;
}

const NO_PLACE = "the format has no such field";

function lossOf(field: string, was: unknown, now: unknown, note: string | undefined): Loss[] {
  if (canonical(was, field) === canonical(now, field)) return [];
  const kind = now === undefined ? "dropped" : "approximated";
  const said = [note, detailOf(field, was, now)].filter((text) => text !== undefined).join("; ");
  const usual = kind === "dropped" ? NO_PLACE : "the closest equivalent";
  return [{ field, kind, was, ...(now === undefined ? {} : { now }), note: said === "" ? usual : said }];
}

/** A text about the tools that are missing or were added. */
function detailOf(field: string, was: unknown, now: unknown): string | undefined {
  if (field !== "tools" && field !== "disallowedTools") return undefined;
  if (now === undefined) return field === "tools" ? "in the target program every tool is allowed" : undefined;
  const [before, after] = [namesIn(was), namesIn(now)];
  const lost = before.filter((name) => !after.includes(name));
  const gained = after.filter((name) => !before.includes(name));
  const parts = [
    ...(lost.length > 0 ? [`without ${lost.join(", ")}`] : []),
    ...(gained.length > 0 && was !== undefined ? [`also ${gained.join(", ")}`] : []),
    ...(was === undefined ? [`only ${after.join(", ")}`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : undefined;
}

const namesIn = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : []);

/** Fields whose lists are compared as sets, regardless of order. */
const SETS: ReadonlySet<string> = new Set(["tools", "disallowedTools", "spawns"]);

function canonical(value: unknown, field: string): string | undefined {
  if (value === undefined) return undefined;
  return JSON.stringify(
    SETS.has(field) && Array.isArray(value) ? (value as string[]).toSorted(byCodeUnit) : sorted(value),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted(byCodeUnit)
      .map((key) => [key, sorted(value[key])]),
  );
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
