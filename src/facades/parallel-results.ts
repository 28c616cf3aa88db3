import { OMITTED, resultPart, shareOf } from "../core/outcome/excerpt.ts";
import { explain, type Outcome, type ReadOutcome } from "../core/outcome/outcome.ts";
import type { Node, Plan, TaskNode } from "../core/plan/plan.ts";
import { taskId } from "../core/plan/task-id.ts";
import { defined } from "../core/text/defined.ts";
import { asId } from "../modes/names.ts";
import type { TeamInput } from "../modes/team.ts";
import { noUsageStats, type ParallelToolDetails, type TaskResult, type UsageStats } from "./parallel/task-result.ts";

export type ParallelMode = ParallelToolDetails["mode"];

/** What was started by a call of `parallel`, and how it ended. */
type Delegated = Readonly<{
  nodes: Readonly<Record<string, ReadOutcome>>;
  plan: Plan;
  whole: Outcome;
  team?: TeamInput["team"] | undefined;
  /** How many characters of results the caller can read at once. */
  chars?: number | undefined;
  /** The id of the plan: `run/path/`, to which the ids of its nodes are appended. */
  under?: string | undefined;
}>;

/** The details that a call of `parallel` adds to its result, so that they are part of the conversation. */
export function detailsOf(mode: ParallelMode, delegated?: Delegated): ParallelToolDetails {
  const { nodes: known = {}, plan, whole, team, chars, under } = delegated ?? {};
  const tasks = Object.entries(plan?.nodes ?? {}).filter(([, { kind }]) => kind === "task" || kind === "loop");
  const results = tasks.flatMap(([id, node], at) => {
    const outcome = known[id];
    return outcome && (outcome.status !== "skipped" || mode === "parallel")
      ? [resultFor({ mode, id, at, node, outcome, chars: shareOf(chars, tasks.length), under })]
      : [];
  });
  const won = whole?.status === "ok" && "from" in whole ? whole.from?.[0] : undefined;
  const winner = mode === "race" && won !== undefined ? { winner: won } : {};
  return {
    mode,
    results,
    totalDurationMs: results.reduce((most, { durationMs }) => Math.max(most, durationMs), 0),
    usage: results.reduce((sum, { usage }) => added(sum, usage), noUsageStats()),
    ...winner,
    ...(mode === "team" && plan && { dagInfo: dagInfo(tasks, known, team) }),
  };
}

type Part = Readonly<{
  mode: ParallelMode;
  id: string;
  at: number;
  node: Node;
  outcome: ReadOutcome;
  chars: number;
  under?: string | undefined;
}>;

/** The ids of tasks in each mode, as pi-parallel-agents numbers them. */
const ids: Readonly<Record<ParallelMode, (id: string, at: number, name: string | undefined) => string>> = {
  single: () => "single",
  parallel: (_, at, name) => taskId(at, name),
  chain: (_, at) => `${at + 1}-step_${at + 1}`,
  race: (id) => id,
  team: (id) => id,
};

function resultFor({ mode, id, at, node, outcome, chars, under }: Part): TaskResult {
  const { text, cut } = resultPart(outcome, chars);
  const task = workOf(node)?.task;
  const planned = node.kind === "loop" ? node.body.nodes["plan"] : undefined;
  const good = outcome.status === "ok";
  const name = task?.label ?? (mode === "parallel" ? task?.agent : id);
  return {
    id: ids[mode](id, at, name),
    ...(under !== undefined && outcome.status !== "skipped" && { taskId: under + id }),
    ...defined({ name }),
    task: (planned?.kind === "task" ? planned.task : task)?.prompt ?? "",
    exitCode: good ? 0 : 1,
    output: text,
    stderr: "",
    truncated: cut,
    durationMs: outcome.ms ?? 0,
    usage: statsOf(outcome),
    ...defined({ model: outcome.model, fullOutputPath: outcome.file, toolUsage: outcome.tools }),
    ...(!good && { error: explain(outcome) }),
    ...(outcome.status === "cancelled" && { aborted: true }),
    ...(mode === "chain" && { step: at + 1 }),
  };
}

/** The task that does the work of a node, which may be inside loops. */
function workOf(node: Node | undefined): TaskNode | undefined {
  if (node?.kind === "loop") return workOf(node.body.nodes["work"]);
  return node?.kind === "task" ? node : undefined;
}

function statsOf({ usage, cost }: Outcome): UsageStats {
  if (!usage) return noUsageStats();
  const { reasoning: _reasoning, estimated: _estimated, ...stats } = usage;
  return { ...stats, cost: cost?.usd ?? 0 };
}

function added(a: UsageStats, b: UsageStats): UsageStats {
  const sum = Object.fromEntries((Object.keys(a) as (keyof UsageStats)[]).map((key) => [key, a[key] + b[key]]));
  return { ...(sum as UsageStats), contextTokens: b.contextTokens || a.contextTokens };
}

function dagInfo(
  tasks: readonly (readonly [string, Node])[],
  known: Readonly<Record<string, Outcome>>,
  team: TeamInput["team"] | undefined,
): NonNullable<ParallelToolDetails["dagInfo"]> {
  const assigned = team?.tasks?.length
    ? team.tasks
    : (team?.members ?? []).map(({ role }) => ({ id: role, assignee: role }));
  const assignees = new Map(assigned.map(({ id, assignee }) => [asId(id), assignee]));
  return {
    objective: team?.objective ?? "",
    members: (team?.members ?? []).map(({ role, model }) => ({
      role,
      ...defined({ model: typeof model === "object" ? model.join(", ") : model }),
    })),
    tasks: tasks.map(([id, node]) => ({
      id,
      ...defined({ assignee: assignees.get(id) }),
      depends: "needs" in node ? (node.needs ?? []) : [],
      status: known[id]?.status ?? "pending",
      ...reviewOf(node, known[id]),
    })),
  };
}

/** The review rounds of a task. */
function reviewOf(node: Node, outcome: Outcome | undefined): object {
  if (node.kind !== "loop") return {};
  const inner = node.body.nodes["work"];
  if (inner?.kind === "loop") return reviewOf(inner, outcome);
  if (node.body.nodes[node.until]?.kind !== "task") return {}; // only a person decides
  const reviews = outcome?.reviews ?? [];
  return {
    maxIterations: node.max,
    ...(reviews.length > 0 && {
      iteration: reviews.length,
      reviewHistory: reviews.map((review, at) => ({ iteration: at + 1, ...review })),
    }),
    ...defined({ approved: outcome?.approved }),
  };
}

/** The answer in the format of pi-parallel-agents; a failed task gives its reason. */
export function parallelText(
  details: ParallelToolDetails,
  { objective, outcome }: Readonly<{ objective?: string | undefined; outcome: Outcome }>,
): string {
  return texts[details.mode](details, { objective, outcome });
}

type Around = Readonly<{ objective?: string | undefined; outcome: Outcome }>;

const texts: Readonly<Record<ParallelMode, (details: ParallelToolDetails, around: Around) => string>> = {
  single: ({ results: [only] }, { outcome }) => (only ? bodyOf(only) : explain(outcome)),
  parallel: (details) =>
    [headOf("Parallel", details, ""), partsOf(details.results, ({ name, id }) => name ?? id)].join("\n\n"),
  chain: ({ results }, { outcome }) => {
    const last = results.at(-1);
    if (outcome.status === "ok" && last) return bodyOf(last);
    return [
      `Chain stopped at step ${last?.step ?? 1}: ${explain(outcome)}`,
      ...results.slice(0, -1).map((one) => `### ✓ ${one.name}\n\n${bodyOf(one)}`),
    ].join("\n\n");
  },
  race: ({ results, winner }, { outcome }) => {
    const best = results.find(({ id }) => id === winner);
    if (best) return bodyOf(best);
    if (results.length === 0) return explain(outcome);
    return `All race models failed:\n${results.map(({ id, error }) => `[${id}]: ${error}`).join("\n")}`;
  },
  team: (details, { objective }) => {
    const blocked = (details.dagInfo?.tasks ?? [])
      .filter(({ status }) => status === "skipped" || status === "pending")
      .map(({ id }) => id);
    const unapproved = (details.dagInfo?.tasks ?? [])
      .filter(({ approved, status }) => approved === false && status === "ok")
      .map(({ id }) => id);
    return [
      headOf("Team", details, " tasks", details.dagInfo?.tasks.length),
      objective === undefined ? "" : `**Objective:** ${objective}`,
      blocked.length === 0 ? "" : `**Blocked tasks:** ${blocked.join(", ")} (dependencies failed)`,
      unapproved.length === 0 ? "" : `**Not approved:** ${unapproved.join(", ")} (the last version was kept)`,
      partsOf(details.results, ({ name = "", id }) => teamName(name, id), roundsIn(details)),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  },
};

/** The number of review rounds of each reviewed task. */
const roundsIn = ({ dagInfo: dag }: ParallelToolDetails): ReadonlyMap<string, number> =>
  new Map(dag?.tasks.flatMap(({ id, iteration }) => (iteration === undefined ? [] : [[id, iteration] as const])));

/** The displayed name of a team task: `[dev] dev:a` for the task `a` of the member `dev`. */
function teamName(label: string, id: string): string {
  const [role, task] = label.split(": ");
  return task === undefined ? id : `[${role}] ${role}:${task}`;
}

function headOf(
  title: string,
  { results, usage }: ParallelToolDetails,
  what: string,
  all: number = results.length,
): string {
  const good = results.filter(({ exitCode }) => exitCode === 0).length;
  const cost = usage.cost > 0 ? ` | Total cost: $${usage.cost.toFixed(4)}` : "";
  return `## ${title}: ${good}/${all}${what} succeeded${cost}`;
}

function partsOf(
  results: readonly TaskResult[],
  nameOf: (result: TaskResult) => string,
  rounds: ReadonlyMap<string, number> = new Map(),
): string {
  return results
    .map((result) => {
      const { exitCode, usage, toolUsage = {} } = result;
      const reviewed = rounds.get(result.id) ?? 0;
      const used = [
        reviewed > 0 ? `${reviewed} review round${reviewed === 1 ? "" : "s"}` : "",
        usage.turns > 0 ? `${usage.turns} turn${usage.turns === 1 ? "" : "s"}` : "",
        usage.cost > 0 ? `$${usage.cost.toFixed(4)}` : "",
      ].filter((part) => part !== "");
      const tools = Object.entries(toolUsage).map(([tool, count]) => (count === 1 ? tool : `${tool}×${count}`));
      return [
        `### ${exitCode === 0 ? "✓" : "✗"} ${nameOf(result)}${used.length > 0 ? ` (${used.join(", ")})` : ""}${tools.length > 0 ? `\n**Tools used:** ${tools.join(", ")}` : ""}`,
        bodyOf({ ...result, output: result.output.trim() }),
      ].join("\n\n");
    })
    .join("\n\n---\n\n");
}

function bodyOf({ output, error, truncated, fullOutputPath, taskId }: TaskResult): string {
  const isMarked = !truncated || output.includes(OMITTED);
  const more = isMarked ? "" : `\n\n... [truncated, full output: ${fullOutputPath ?? "not kept"}]`;
  const body = output === "" ? "" : output + more;
  const id = error === undefined || taskId === undefined ? "" : `[task: ${taskId}]`;
  return [error ?? "", body, id].filter((part) => part !== "").join("\n\n") || "(no output)";
}
