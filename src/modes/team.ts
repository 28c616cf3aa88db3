import { z } from "zod";
import { suggestion } from "../core/plan/check.ts";
import type { LoopNode, Node, Plan, TaskNode } from "../core/plan/plan.ts";
import { exhaustedKinds } from "../core/plan/review.ts";
import { type Task, taskSettings } from "../core/plan/task.ts";
import { CrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import { prompts } from "../embedded.ts";
import { asId, nodeIds } from "./names.ts";
import { referencesIn, unknownReference } from "./references.ts";
import { runParts, runSettings, settingsOf, type TaskSettings } from "./settings.ts";

/** The default number of review rounds. */
export const DEFAULT_REVIEW_ROUNDS = 3;

const member = z.strictObject({
  role: z.string().min(1).describe("name of the member in the team"),
  task: z.string().trim().min(1).optional().describe("task of the member when the team has no `tasks`"),
  ...taskSettings,
});

const teamTask = z.strictObject({
  id: z.string().min(1),
  task: z.string().trim().min(1).describe("the prompt; {task:id} is replaced by another task's output"),
  assignee: z.string().optional().describe("the role that does the task"),
  depends: z.array(z.string()).optional().describe("tasks that must succeed first; their outputs are passed on"),
  review: z
    .strictObject({
      reviewer: z.string().optional().describe("the role that reviews"),
      assignee: z.string().optional().describe("same as reviewer"),
      prompt: z
        .string()
        .optional()
        .describe("the prompt of the reviewer; {task} and {output} are replaced by the task and the work"),
      task: z.string().optional().describe("same as prompt"),
      maxIterations: z.number().int().min(1).max(20).optional(),
    })
    .optional(),
  requiresApproval: z
    .boolean()
    .optional()
    .describe("a person must approve the plan of the task before the task may change anything"),
  ...taskSettings,
});

/** The input of a team: members with roles, tasks with dependencies, reviews and approvals. */
export const teamInput = z.strictObject({
  mode: z.literal("team"),
  team: z.strictObject({
    objective: z.string().optional().describe("goal of the team; every member is told"),
    members: z.array(member).optional(),
    tasks: z.array(teamTask).optional(),
    maxConcurrency: z.number().int().min(1).optional(),
    reviewExhausted: z
      .enum(exhaustedKinds)
      .optional()
      .describe(
        "`fail`: a task fails when its review never approves it; `accept` (default): the last version is accepted",
      ),
  }),
  ...taskSettings,
  ...runSettings,
});
export type TeamInput = z.infer<typeof teamInput>;
export type TeamMember = z.infer<typeof member>;
export type TeamTask = z.infer<typeof teamTask>;

/**
 * `approves`: whether a task that requires approval asks for it with its plan, before it changes anything, or with its
 * finished work. `retriesReviews`: whether a failed review is retried once where the input does not say so (default).
 */
export type TeamOptions = Readonly<{ approves?: "plan" | "work"; retriesReviews?: boolean }>;

/**
 * The plan of a team: its tasks as a graph, then `join(settled)`. A review is `loop(work -> review)`, an approval is a
 * gate in a loop.
 */
export function team(
  { team, ...input }: TeamInput,
  { approves = "plan", retriesReviews = true }: TeamOptions = {},
): Plan {
  const members = membersOf(team.members ?? []);
  const tasks = team.tasks && team.tasks.length > 0 ? team.tasks : soloTasks([...members.values()]);
  if (tasks.length === 0) {
    throw new CrewError(
      "BAD_INPUT",
      "The team has nothing to do.",
      "Give the team `tasks`, or give each member a `task`.",
    );
  }
  const ids = nodeIds(
    tasks.map(({ id }) => ({ given: id, else: id })),
    "tasks",
  );
  const notes: string[] = [];
  const nodes: Record<string, Node> = {};
  for (const [index, task] of tasks.entries()) {
    nodes[ids[index]!] = nodeFor(task, {
      id: ids[index]!,
      ids,
      members,
      objective: team.objective,
      notes,
      exhausted: team.reviewExhausted ?? "accept",
      approves,
      retriesReviews,
      all: settingsOf(input),
    });
  }
  const output = nodeIds([...ids.map((given) => ({ given, else: given })), { else: "team" }], "tasks").at(-1)!;
  nodes[output] = { kind: "join", needs: ids, pick: "settled" };
  return {
    ...runParts({ ...input, maxConcurrency: team.maxConcurrency ?? input.maxConcurrency }, notes),
    nodes,
    output,
  };
}

type Place = Readonly<{
  id: string;
  ids: readonly string[];
  members: ReadonlyMap<string, TeamMember>;
  objective: string | undefined;
  notes: string[];
  exhausted: LoopNode["exhausted"];
  approves: NonNullable<TeamOptions["approves"]>;
  retriesReviews: boolean;
  all: TaskSettings;
}>;

/** The node for one team task: the work itself, or the loop that reviews or approves it. */
function nodeFor(task: TeamTask, place: Place): Node {
  const { id, ids, members, objective, notes, all, approves } = place;
  const assignee = memberFor(members, task.assignee, `Task "${task.id}" is assigned to`);
  const { refs, unknown } = referencesIn(task.task, { ids, self: id });
  notes.push(...unknown.map((placeholder) => unknownReference(id, placeholder)));
  const needs = (task.depends ?? []).map(asId);
  const missing = task.depends?.find((need) => !ids.includes(asId(need)));
  if (missing !== undefined)
    throw new CrewError(
      "PLAN_UNKNOWN_NEED",
      `Task "${task.id}" depends on "${missing}", which is not a task of the team.`,
      suggestion(missing, ids, "Known tasks"),
    );
  const include = [...new Set(needs)].filter((need) => !Object.values(refs).includes(need));
  const preface = prefaceOf(objective, assignee?.role);
  const work: Task = {
    ...settingsOf(task, assignee, all),
    prompt: task.task,
    refs,
    label: assignee ? `${assignee.role}: ${task.id}` : task.id,
    include,
    ...defined({ preface }),
  };
  const plain: TaskNode = { kind: "task", ...(needs.length > 0 && { needs }), task: work };
  const reviewed = (work: TaskNode): TaskNode | LoopNode =>
    task.review ? reviewLoop(task, work, task.review, place) : work;
  if (!task.requiresApproval) return reviewed(plain);
  return approves === "work" ? approvalLoop(reviewed(plain)) : planApprovalLoop(plain, reviewed);
}

/**
 * Lets an agent make a plan with read-only tools and asks for its approval; once the plan is approved, the same
 * conversation continues with all tools, followed by its review. A plan that is rejected with feedback is revised.
 */
function planApprovalLoop({ needs, task }: TaskNode, reviewed: (work: TaskNode) => TaskNode | LoopNode): LoopNode {
  const { schema: _schema, isolation: _isolation, acceptSchema: _accept, ...planned } = task;
  const plan: Task = { ...planned, label: `${task.label ?? "task"}, plan`, planOnly: true, revise: prompts.reviseWork };
  const { include: _include, preface: _preface, ...rest } = task;
  const work: Task = {
    ...rest,
    prompt: prompts.carryOut,
    refs: { approval: "approval", task: { prompt: "plan" } },
    resumes: "plan",
  };
  const carried = reviewed({ kind: "task", needs: ["approval"], task: work });
  return {
    kind: "loop",
    ...defined({ needs }),
    body: {
      nodes: {
        plan: { kind: "task", task: plan },
        approval: { kind: "gate", needs: ["plan"], question: prompts.approvePlan, refs: { output: "plan" } },
        work: carried,
      },
      output: "work",
    },
    until: "approval",
    max: MAX_APPROVAL_ROUNDS,
    exhausted: "fail",
  };
}

function reviewLoop(
  { id }: TeamTask,
  work: TaskNode,
  review: NonNullable<TeamTask["review"]>,
  { members, objective, all, exhausted, retriesReviews }: Place,
): LoopNode {
  const role = review.reviewer || review.assignee;
  const reviewer = memberFor(members, role, `The review of task "${id}" is assigned to`);
  const ask: Task = {
    ...(!retriesReviews && { retry: NO_RETRY }),
    ...settingsOf(reviewer, { ...all, schema: undefined }),
    prompt: review.prompt ?? review.task ?? prompts.reviewWork,
    refs: { output: "work", task: { prompt: work.task.resumes ?? "work" } },
    label: `${reviewer?.role ?? "review"}: review of ${id}`,
    ...defined({ preface: prefaceOf(objective, undefined) }),
  };
  return {
    kind: "loop",
    ...defined({ needs: work.needs }),
    body: {
      nodes: {
        work: { kind: "task", task: { ...work.task, revise: prompts.reviseWork } },
        review: { kind: "task", needs: ["work"], task: ask },
      },
      output: "work",
    },
    until: "review",
    max: review.maxIterations ?? DEFAULT_REVIEW_ROUNDS,
    exhausted,
  };
}

/**
 * A loop that asks for approval of finished work. Work that is rejected with feedback is done again with that feedback;
 * work that is rejected without feedback is given up.
 */
function approvalLoop(work: TaskNode | LoopNode): LoopNode {
  const inner: Node =
    work.kind === "task"
      ? { kind: "task", task: { ...work.task, revise: prompts.reviseWork } }
      : { ...work, needs: undefined };
  return {
    kind: "loop",
    ...defined({ needs: work.needs }),
    body: {
      nodes: {
        work: inner,
        approval: { kind: "gate", needs: ["work"], question: prompts.approveWork, refs: { output: "work" } },
      },
      output: "work",
    },
    until: "approval",
    max: MAX_APPROVAL_ROUNDS,
    exhausted: "fail",
  };
}

const MAX_APPROVAL_ROUNDS = 20;
const NO_RETRY = { maxAttempts: 1, backoffMs: 0 } as const;

function membersOf(list: readonly TeamMember[]): Map<string, TeamMember> {
  const members = new Map<string, TeamMember>();
  for (const one of list) {
    if (members.has(one.role))
      throw new CrewError(
        "PLAN_DUPLICATE_ID",
        `Two members have the role "${one.role}".`,
        "Give each member its own role.",
      );
    members.set(one.role, one);
  }
  return members;
}

function soloTasks(members: readonly TeamMember[]): TeamTask[] {
  return members.flatMap(({ role, task }) => (task === undefined ? [] : [{ id: role, task, assignee: role }]));
}

function memberFor(
  members: ReadonlyMap<string, TeamMember>,
  role: string | undefined,
  who: string,
): TeamMember | undefined {
  if (!role) return undefined;
  const found = members.get(role);
  if (!found)
    throw new CrewError(
      "BAD_INPUT",
      `${who} "${role}", which is not a role of the team.`,
      suggestion(role, [...members.keys()], "Known roles"),
    );
  return found;
}

/** The part of a prompt before the lines that tell a member about its team. */
export const teamPreface = { objective: "The team's objective: ", role: "Your role in the team: " } as const;

function prefaceOf(objective: string | undefined, role: string | undefined): string | undefined {
  const lines = [objective && teamPreface.objective + objective, role && teamPreface.role + role].filter(Boolean);
  return lines.length > 0 ? lines.join("\n") : undefined;
}
