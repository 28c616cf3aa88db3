import type { Plan } from "../../core/plan/plan.ts";
import { orderOf } from "../../core/plan/topological-order.ts";
import { schedule } from "../../core/schedule/schedule.ts";
import { CrewError } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { asId } from "../../modes/names.ts";
import { type TeamMember, type TeamTask, team } from "../../modes/team.ts";
import type { TaskResult } from "./task-result.ts";

/** A team task as a node of the team's graph, and its progress. */
export type DagNode = {
  task: TeamTask;
  assignee?: TeamMember;
  dependsOn: string[];
  dependedBy: string[];
  status: DagStatus;
  /** The result of the last draft. */
  result?: TaskResult;
  /** The number of the draft, for a task that is reviewed. */
  iteration?: number;
  reviewHistory?: DagReview[];
};

/** The status of a team task. `blocked`: a task that it depends on did not succeed, so it never runs. */
export type DagStatus =
  | "pending"
  | "ready"
  | "running"
  | "reviewing"
  | "revising"
  | "awaiting_approval"
  | "completed"
  | "failed"
  | "blocked"
  | "aborted";

export type DagReview = Readonly<{
  iteration: number;
  workerOutput: string;
  reviewerOutput: string;
  approved: boolean;
}>;

/** The graph of a team's tasks; throws if it cannot be executed. Its nodes are the tasks of the compiled team plan. */
export function buildDag(tasks: readonly TeamTask[], members: ReadonlyMap<string, TeamMember>): Map<string, DagNode> {
  const nodes = new Map<string, DagNode>();
  for (const task of tasks) {
    if (nodes.has(task.id))
      throw new CrewError("PLAN_DUPLICATE_ID", `Duplicate task ID: "${task.id}"`, "Give each task its own id.");
    const assignee = task.assignee ? members.get(task.assignee) : undefined;
    nodes.set(task.id, { task, ...defined({ assignee }), dependsOn: [], dependedBy: [], status: "pending" });
  }
  for (const { task } of nodes.values()) checkDependencies(task, nodes);
  for (const { task } of nodes.values()) checkRoles(task, members);
  linkDag(nodes, members);
  return nodes;
}

/** Reads the dependencies from the plan; statuses of started tasks are kept. */
export function linkDag(nodes: ReadonlyMap<string, DagNode>, members: ReadonlyMap<string, TeamMember>): void {
  const plan = planOfDag(nodes, members);
  const { left } = orderOf(plan);
  if (left.length > 0) {
    const names = [...nodes.keys()].filter((id) => left.includes(asId(id)));
    throw new CrewError(
      "PLAN_CYCLE",
      `Dependency cycle detected involving tasks: ${names.join(", ")}`,
      "Remove one of these dependencies.",
    );
  }
  const { entries } = schedule(plan);
  const ids = new Map([...nodes.keys()].map((id) => [asId(id), id]));
  for (const node of nodes.values()) node.dependedBy = [];
  for (const [id, node] of nodes) {
    const given = node.task.depends ?? [];
    const { needs, open } = entries.get(asId(id))!;
    node.dependsOn = [...given, ...needs.map((need) => ids.get(need)!).filter((need) => !given.includes(need))];
    for (const need of node.dependsOn) nodes.get(need)!.dependedBy.push(id);
    if (node.status === "pending" && open === 0) node.status = "ready";
  }
}

/** The plan of these tasks, as team mode compiles it; without tasks, a plan with nothing to do. */
export function planOfDag(
  nodes: ReadonlyMap<string, DagNode>,
  members: ReadonlyMap<string, TeamMember>,
  objective?: string,
): Plan {
  if (nodes.size === 0) return { nodes: { team: { kind: "join", needs: [], pick: "settled" } }, output: "team" };
  return team(
    {
      mode: "team",
      team: {
        ...(objective !== undefined && objective !== "" && { objective }),
        members: [...members].map(([role, member]) => ({ ...member, role })),
        tasks: [...nodes.values()].map(({ task }) => task),
      },
    },
    { approves: "work", retriesReviews: false },
  );
}

function checkDependencies({ id, depends = [] }: TeamTask, nodes: ReadonlyMap<string, DagNode>): void {
  const unknown = depends.find((need) => !nodes.has(need));
  if (unknown !== undefined)
    throw new CrewError(
      "PLAN_UNKNOWN_NEED",
      `Task "${id}" depends on unknown task "${unknown}"`,
      "Name a task of the team under `depends`.",
    );
}

function checkRoles({ id, assignee, review }: TeamTask, members: ReadonlyMap<string, TeamMember>): void {
  if (assignee && !members.has(assignee)) {
    throw new CrewError(
      "BAD_INPUT",
      `Task "${id}" assigned to unknown member "${assignee}"`,
      "Name a role of the team.",
    );
  }
  const reviewer = review?.reviewer || review?.assignee;
  if (reviewer && !members.has(reviewer)) {
    throw new CrewError(
      "BAD_INPUT",
      `Task "${id}" review assigned to unknown member "${reviewer}"`,
      "Name a role of the team.",
    );
  }
}
