import { explain, type Outcome } from "../outcome/outcome.ts";
import { limitNote } from "../outcome/reached-limit.ts";
import { defined } from "../text/defined.ts";
import type { ScheduleEntry } from "./schedule.ts";

/**
 * The outcome of a join (a node that collects outputs), from its ended dependencies; `undefined` while the join waits
 * for a dependency.
 */
export function joinOutcome(join: ScheduleEntry, entries: ReadonlyMap<string, ScheduleEntry>): Outcome | undefined {
  if (join.node.kind !== "join") return undefined;
  const { pick, count = 1 } = join.node;
  if (pick === "first") {
    if (join.good >= count) return firstOf(partsOf(join, entries));
    return join.good + join.open < count ? noneOf(partsOf(join, entries), count) : undefined;
  }
  return join.open === 0 ? allOf(partsOf(join, entries)) : undefined;
}

/** The outputs that a cancelled join (a node that collects outputs) already has, so that finished work is not lost. */
export function gathered(
  join: ScheduleEntry,
  entries: ReadonlyMap<string, ScheduleEntry>,
): Readonly<{ output?: string }> {
  if (join.node.kind !== "join") return {};
  const parts = partsOf(join, entries);
  return parts.some(({ outcome }) => outcome.status === "ok") ? { output: texts(parts) } : {};
}

type Part = Readonly<{ id: string; label: string; outcome: Outcome; rank: number }>;

/** The dependencies that have ended, in the order in which the join lists them. */
function partsOf({ needs }: ScheduleEntry, entries: ReadonlyMap<string, ScheduleEntry>): Part[] {
  return needs.flatMap((id) => {
    const { node, outcome, rank } = entries.get(id)!;
    const label = node.kind === "task" ? (node.task.label ?? id) : id;
    return outcome ? [{ id, label, outcome, rank }] : [];
  });
}

function firstOf(parts: readonly Part[]): Outcome {
  const good = parts.filter(({ outcome }) => outcome.status === "ok");
  const { limit } = good.length === 1 ? good[0]!.outcome : {};
  const data = good.length === 1 ? dataOf(good[0]!.outcome) : undefined;
  return {
    status: "ok",
    output: texts(good),
    from: good.map(({ id }) => id),
    ...defined({ data, limit }),
    ...unapproved(good),
  };
}

/** A join that includes unapproved work is unapproved, too. */
function unapproved(parts: readonly Part[]): Readonly<{ approved?: false }> {
  return parts.some(({ outcome }) => outcome.approved === false) ? { approved: false } : {};
}

function noneOf(parts: readonly Part[], count: number): Outcome {
  const failures = parts
    .filter(({ outcome }) => outcome.status !== "ok")
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ label, outcome }) => `[${label}]: ${explain(outcome)}`);
  const title = count === 1 ? "All contenders failed" : `Fewer than ${count} succeeded`;
  return {
    status: "failed",
    fault: { code: "ALL_FAILED", message: `${title}:\n${failures.join("\n")}`, retryable: false },
  };
}

function allOf(parts: readonly Part[]): Outcome {
  const bad = parts.filter(({ outcome }) => outcome.status !== "ok");
  if (bad.length === 0)
    return { status: "ok", output: texts(parts), from: parts.map(({ id }) => id), ...unapproved(parts) };
  const names = bad.slice(0, 5).map(({ id }) => id);
  const more = bad.length > names.length ? ` and ${bad.length - names.length} more` : "";
  const message = `${bad.length} of ${parts.length} did not succeed: ${names.join(", ")}${more}`;
  // A question that no person could answer is reported as such, not as a failure of a task.
  const unanswered = bad.some(({ outcome }) => outcome.status === "failed" && outcome.fault.code === "NEEDS_ANSWER");
  const code = unanswered ? "NEEDS_ANSWER" : "SOME_FAILED";
  return { status: "failed", fault: { code, message, retryable: false }, output: texts(parts), ...unapproved(parts) };
}

/** Every output with its node's name as heading; a single output gets no heading. */
function texts(parts: readonly Part[]): string {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only ? alone(only.outcome) : parts.map(({ id, outcome }) => `## ${id}\n\n${textOf(outcome)}`).join("\n\n");
}

/**
 * The text of a join with a single output. It has no note about a limit, because the outcome of the join contains it.
 */
const alone = (outcome: Outcome): string => (outcome.status === "ok" ? outcome.output : textOf(outcome));

/** The output of a node, or the reason of its failure with its partial output. */
function textOf(outcome: Outcome): string {
  if (outcome.status === "ok") return `${outcome.output}${noted(outcome)}`;
  const done = "output" in outcome ? (outcome.output ?? "") : "";
  return `(${outcome.status}) ${explain(outcome)}${done === "" ? "" : `\n\n${done}`}`;
}

/** The note that is added below an output that a limit cut short. */
const noted = (outcome: Outcome): string => (outcome.limit === undefined ? "" : `\n\n(${limitNote(outcome)})`);

function dataOf(outcome: Outcome): unknown {
  return "data" in outcome ? outcome.data : undefined;
}
