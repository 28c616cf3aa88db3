import type { Outcome } from "../../core/outcome/outcome.ts";
import { parseReview } from "../../core/plan/review.ts";
import type { Fact } from "../../core/run/event.ts";
import type { DagNode, DagStatus } from "../../facades/parallel/dag.ts";
import type { PendingApproval, TaskProgress, TaskResult } from "../../facades/parallel/task-result.ts";
import { asId } from "../../modes/names.ts";

/**
 * One draft or review of a team task, with the names of pi-parallel-agents: for the task `w`, the first draft is `w`,
 * its review `w:review:1`, and the next draft `w:revision:2`. If a person rejects a draft, the next draft is named `w`
 * again.
 */
export type Piece = Readonly<{ id: string; part: "work" | "review"; draft: number; node: DagNode }>;

/** A team's graph of tasks while it is executed: takes events and results, and shows nodes and progress. */
export type DagView = Readonly<{
  /** The draft or review at a path; a retry at the same path returns the same object. */
  piece(path: string): Piece;
  /** The team task that a path belongs to. */
  nodeOf(path: string): DagNode | undefined;
  see(path: string, fact: Fact): void;
  keep(piece: Piece, result: TaskResult): void;
  show(progress: TaskProgress): void;
  results(): TaskResult[];
  pendingApproval(): PendingApproval | undefined;
}>;

/** A view of a graph that has not started; calls `changed` after every visible change. */
export function createDagView(
  nodes: ReadonlyMap<string, DagNode>,
  changed: (progress: readonly TaskProgress[]) => void,
): DagView {
  const pieces = new Map<string, Piece>();
  const drafts = new Map<DagNode, number>();
  const results = new Map<Piece, TaskResult>();
  const progress = new Map<string, TaskProgress>();
  let pending: PendingApproval | undefined;

  const byId = new Map<string, DagNode>();
  const nodeOf = (path: string): DagNode | undefined => {
    if (byId.size !== nodes.size) for (const [id, node] of nodes) byId.set(asId(id), node);
    const [first = "", ...below] = path.split("/");
    return byId.get(below.length > 0 ? first.replace(/\.\d+$/, "") : first);
  };
  const piece = (path: string): Piece => {
    const known = pieces.get(path) ?? newPiece(path, nodeOf(path)!);
    pieces.set(path, known);
    return known;
  };
  const newPiece = (path: string, node: DagNode): Piece => {
    const { id } = node.task;
    const isReview = path.endsWith("/review");
    const draft = (drafts.get(node) ?? 0) + (isReview ? 0 : 1);
    drafts.set(node, draft);
    if (isReview) return { id: `${id}:review:${draft}`, part: "review", draft, node };
    return { id: draft === 1 || !node.task.review ? id : `${id}:revision:${draft}`, part: "work", draft, node };
  };

  const show = (one: TaskProgress): void => {
    progress.set(one.id, one);
    changed([...progress.values()]);
  };
  const move = (node: DagNode, status: DagStatus): void => {
    node.status = status;
    show(progressOf(node.task.id, node, progress.get(node.task.id), shown[status]));
  };
  const release = ({ dependedBy }: DagNode): void => {
    for (const id of dependedBy) {
      const next = nodes.get(id);
      if (next?.status === "pending" && next.dependsOn.every((need) => nodes.get(need)?.status === "completed"))
        move(next, "ready");
    }
  };

  const see = (path: string, fact: Fact): void => {
    const node = nodeOf(path);
    if (!node) return;
    if (fact.type === "node.started" && fact.kind === "task") {
      const { id, part, draft } = piece(path);
      if (part === "work" && node.task.review) node.iteration = draft;
      if (id !== node.task.id) show(progressOf(id, node, undefined, "running"));
      move(node, part === "review" ? "reviewing" : draft > 1 ? "revising" : "running");
    }
    if (fact.type === "gate.opened") move(node, "awaiting_approval");
    if (fact.type !== "node.ended") return;
    if (fact.outcome.status === "failed" && fact.outcome.fault.code === "NEEDS_ANSWER")
      pending ??= { taskId: node.task.id, plan: node.result?.output ?? "" };
    if (path.includes("/")) return;
    move(node, statusOf(fact.outcome));
    release(node);
  };

  const keep = (piece: Piece, result: TaskResult): void => {
    const { id, part, draft, node } = piece;
    results.delete(piece);
    results.set(piece, result);
    if (id !== node.task.id) show(progressOf(id, node, progress.get(id), isGood(result) ? "completed" : "failed"));
    if (part === "work") node.result = result;
    else if (isGood(result)) {
      const review = {
        iteration: draft,
        workerOutput: node.result?.output ?? "",
        reviewerOutput: result.output,
        approved: parseReview(result.output).approved,
      };
      node.reviewHistory = [...(node.reviewHistory ?? []), review];
    }
  };

  for (const [id, node] of nodes) progress.set(id, progressOf(id, node, undefined, shown[node.status]));
  changed([...progress.values()]);
  return { piece, nodeOf, see, keep, show, results: () => [...results.values()], pendingApproval: () => pending };
}

/** True for a success. An aborted run did not succeed, whatever its exit code is. */
export function isGood({ exitCode, aborted }: TaskResult): boolean {
  return exitCode === 0 && !aborted;
}

const shown: Readonly<Record<DagStatus, TaskProgress["status"]>> = {
  pending: "pending",
  ready: "pending",
  running: "running",
  reviewing: "running",
  revising: "running",
  awaiting_approval: "running",
  completed: "completed",
  failed: "failed",
  blocked: "aborted",
  aborted: "aborted",
};

const ended: Readonly<Record<Outcome["status"], DagStatus>> = {
  ok: "completed",
  failed: "failed",
  skipped: "blocked",
  cancelled: "aborted",
};
const statusOf = ({ status }: Outcome): DagStatus => ended[status];

function progressOf(
  id: string,
  { task, assignee }: DagNode,
  before: TaskProgress | undefined,
  status: TaskProgress["status"],
): TaskProgress {
  if (before) return { ...before, status };
  const name = assignee ? `${assignee.role}:${id}` : id;
  return {
    id,
    name,
    status,
    task: task.task,
    recentTools: [],
    recentOutput: [],
    toolCount: 0,
    tokens: 0,
    durationMs: 0,
  };
}
