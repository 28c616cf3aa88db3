import { explain, type Outcome } from "./outcome.ts";
import type { Entry } from "./schedule.ts";

/** What a join makes of its needs so far; `undefined` while it still has to wait. */
export function joined(join: Entry, entries: ReadonlyMap<string, Entry>): Outcome | undefined {
  if (join.node.kind !== "join") return undefined;
  const { pick, count = 1 } = join.node;
  const parts = (): Part[] => join.needs.map((id) => ({ id, outcome: entries.get(id)!.outcome }));
  if (pick === "first") {
    if (join.good >= count) return firstOf(parts());
    return join.good + join.open < count ? noneOf(parts(), count) : undefined;
  }
  return join.open === 0 ? allOf(parts()) : undefined;
}

type Part = Readonly<{ id: string; outcome: Outcome | undefined }>;

function firstOf(parts: readonly Part[]): Outcome {
  const good = parts.flatMap(({ id, outcome }) => (outcome?.status === "ok" ? [{ id, outcome }] : []));
  const from = good.map(({ id }) => id);
  const only = good.length === 1 ? good[0] : undefined;
  if (only) return { status: "ok", output: only.outcome.output, from, ...(only.outcome.data !== undefined && { data: only.outcome.data }) };
  return { status: "ok", output: texts(parts), from };
}

function noneOf(parts: readonly Part[], count: number): Outcome {
  const failures = parts.flatMap(({ id, outcome }) => (outcome && outcome.status !== "ok" ? [`[${id}]: ${explain(outcome)}`] : []));
  const title = count === 1 ? "All contenders failed" : `Fewer than ${count} succeeded`;
  return { status: "failed", fault: { code: "ALL_FAILED", message: `${title}:\n${failures.join("\n")}`, retryable: false } };
}

function allOf(parts: readonly Part[]): Outcome {
  const bad = parts.filter(({ outcome }) => outcome?.status !== "ok");
  if (bad.length === 0) return { status: "ok", output: texts(parts), from: parts.map(({ id }) => id) };
  const names = bad.slice(0, 5).map(({ id }) => id);
  const more = bad.length > names.length ? ` and ${bad.length - names.length} more` : "";
  const message = `${bad.length} of ${parts.length} did not succeed: ${names.join(", ")}${more}`;
  return { status: "failed", fault: { code: "SOME_FAILED", message, retryable: false }, output: texts(parts) };
}

/** Every output under its node's name; a single one needs no heading. */
function texts(parts: readonly Part[]): string {
  const shown = parts.map(({ id, outcome }) => ({ id, text: outcome ? textOf(outcome) : "" }));
  const only = shown.length === 1 ? shown[0] : undefined;
  return only ? only.text : shown.map(({ id, text }) => `## ${id}\n\n${text}`).join("\n\n");
}

function textOf(outcome: Outcome): string {
  return outcome.status === "ok" ? outcome.output : `(${outcome.status}) ${explain(outcome)}`;
}
