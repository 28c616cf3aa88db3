import { explain, type Outcome, type ReadOutcome } from "../core/outcome/outcome.ts";
import type { Node, Plan } from "../core/plan/plan.ts";
import { taskId } from "../core/plan/task-id.ts";
import { cutHead, cutSummary, INLINE_CHARS } from "../core/text/cut.ts";
import { defined } from "../core/text/defined.ts";
import { noUsageStats, type ParallelToolDetails, type TaskResult, type UsageStats } from "./parallel/task-result.ts";

export type ParallelMode = ParallelToolDetails["mode"];

/** The details that a call of `parallel` adds to its result, so that they are part of the conversation. */
export function detailsOf(
  mode: ParallelMode,
  nodes: Readonly<Record<string, ReadOutcome>> | readonly [],
  plan?: Plan,
  whole?: Outcome,
): ParallelToolDetails {
  const known = nodes as Readonly<Record<string, ReadOutcome>>;
  const tasks = Object.entries(plan?.nodes ?? {}).filter(([, { kind }]) => kind === "task" || kind === "loop");
  const results = tasks.flatMap(([id, node], at) => {
    const outcome = known[id];
    return outcome && outcome.status !== "skipped" ? [resultFor({ mode, id, at, node, outcome })] : [];
  });
  const won = whole?.status === "ok" && "from" in whole ? whole.from?.[0] : undefined;
  const winner = mode === "race" && won !== undefined ? { winner: won } : {};
  return {
    mode,
    results,
    totalDurationMs: results.reduce((most, { durationMs }) => Math.max(most, durationMs), 0),
    usage: results.reduce((sum, { usage }) => added(sum, usage), noUsageStats()),
    ...winner,
    ...(mode === "team" && plan && { dagInfo: dagInfo(tasks, known) }),
  };
}

type Part = Readonly<{ mode: ParallelMode; id: string; at: number; node: Node; outcome: ReadOutcome }>;

/** The ids of tasks in each mode, as pi-parallel-agents numbers them. */
const ids: Readonly<Record<ParallelMode, (id: string, at: number, name: string | undefined) => string>> = {
  single: () => "single",
  parallel: (_, at, name) => taskId(at, name),
  chain: (_, at) => `${at + 1}-step_${at + 1}`,
  race: (id) => id,
  team: (id) => id,
};

function resultFor({ mode, id, at, node, outcome }: Part): TaskResult {
  const { text, cut } = cutSummary(
    "output" in outcome ? (outcome.output ?? "") : "",
    outcome.summaryChars,
    outcome.summaryCut,
  );
  const work = node.kind === "loop" ? (node.body.nodes["plan"] ?? node.body.nodes["work"]) : node;
  const task = work?.kind === "task" ? work.task : undefined;
  const good = outcome.status === "ok";
  const name = task?.label ?? (mode === "parallel" ? task?.agent : id);
  return {
    id: ids[mode](id, at, name),
    ...defined({ name }),
    task: task?.prompt ?? "",
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
): NonNullable<ParallelToolDetails["dagInfo"]> {
  return {
    objective: "",
    members: [],
    tasks: tasks.map(([id, node]) => ({
      id,
      depends: "needs" in node ? (node.needs ?? []) : [],
      status: known[id]?.status ?? "pending",
      ...reviewOf(node, known[id]),
    })),
  };
}

/** The review rounds of a task. */
function reviewOf(node: Node, outcome: Outcome | undefined): object {
  if (node.kind !== "loop") return {};
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
      partsOf(details.results, ({ name = "", id }) => teamName(name, id)),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  },
};

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

function partsOf(results: readonly TaskResult[], nameOf: (result: TaskResult) => string): string {
  return results
    .map((result) => {
      const { exitCode, usage, toolUsage = {} } = result;
      const used = [
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

function bodyOf({ output, error, truncated, fullOutputPath }: TaskResult): string {
  const { text } = cutHead(output, INLINE_CHARS);
  const more = truncated ? `\n\n... [truncated, full output: ${fullOutputPath ?? "not kept"}]` : "";
  const body = text === "" ? "" : text + more;
  return [error ?? "", body].filter((part) => part !== "").join("\n\n") || "(no output)";
}
