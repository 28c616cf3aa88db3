import { readRegularTextSync } from "../disk/regular-file.ts";
import type { Dialects } from "../../core/agent/dialect.ts";
import type { FieldOrigin } from "../../core/vocabulary/provenance.ts";
import type { FoundAgent } from "./discover-found.ts";

/** One field of an agent, its value, and the origin of the value. */
export type ExplainedField = Readonly<{ field: string; value: unknown; origin: FieldOrigin }>;

/** Each field of an agent with its origin. Only this function looks up the lines in files. */
export function explainFields(found: FoundAgent, dialects: Dialects): readonly ExplainedField[] {
  const originOf = originsOf(found, dialects);
  return Object.entries(found.agent)
    .filter(([field, value]) => field !== "source" && value !== undefined)
    .map(([field, value]) => ({ field, value, origin: originOf(field) }));
}

/**
 * Returns a function that tells where a field of an agent came from. It also takes the name of a single limit, as
 * `limits.maxTurns`.
 */
export function originsOf(
  { agent, read, origins, file }: FoundAgent,
  dialects: Dialects,
): (field: string) => FieldOrigin {
  const text = file === undefined ? undefined : readIfThere(file);
  const lineOf = dialects[agent.source?.dialect ?? ""]?.lineOf;
  const inFile = (key: string): FieldOrigin => {
    const line = text === undefined || key.startsWith("(") ? undefined : lineOf?.(text, key);
    return { from: "file", key, ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
  };
  return (field) => {
    const changed = origins[field];
    const key = read.from[field];
    if (changed?.from === "base" && changed.own !== undefined && key !== undefined)
      return { ...changed, own: inFile(key) };
    if (changed !== undefined) return changed;
    if (key === undefined) return { from: "default" };
    return RULES.has(key) ? { from: "default", rule: key.slice(1, -1) } : inFile(key);
  };
}

/** Names of the rules that give a field a value which is not in the agent's file. */
const RULES: ReadonlySet<string> = new Set(["(dialect)", "(repair)", "(file name)"]);

function readIfThere(file: string): string | undefined {
  try {
    return readRegularTextSync(file);
  } catch {
    return undefined; // the file was deleted meanwhile: the key is known, its line is not
  }
}
