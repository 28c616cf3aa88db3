import type { ModelWish } from "../../core/model/choose.ts";
import type { Body, Node } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import { isForeign, type RunnerName } from "../../core/vocabulary/runner-name.ts";
import { noModel } from "../../models/registry/no-model.ts";

/** A plan without the models that cannot be used here, and a warning for each task that named one. */
export async function withUsableModels<B extends Pick<Body, "nodes">>(
  body: B,
  models: ModelSource,
  runnerOf: (task: Task) => RunnerName | undefined,
): Promise<Readonly<{ body: B; warnings: readonly string[] }>> {
  const warnings: string[] = [];
  const nodes = Object.entries(body.nodes).map(async ([id, node]): Promise<[string, Node]> => {
    if (node.kind === "loop") {
      const inner = await withUsableModels(node.body, models, runnerOf);
      warnings.push(...inner.warnings);
      return [id, { ...node, body: inner.body }];
    }
    if (node.kind !== "task" || node.task.model === undefined || isForeign(runnerOf(node.task))) return [id, node];
    const { model, ...task } = node.task;
    const found = await models.choose([{ by: "call", names: model }], { binding: "call" });
    if (!("misses" in found)) return [id, node];
    const because = found.misses.map((miss) => miss.because).join("; ");
    const other = "It runs on the model of its agent, or the default.";
    warnings.push(`${task.agent ?? id}: the call asks for ${[model].flat().join(", ")}: ${because}. ${other}`);
    return [id, { ...node, task }];
  });
  return { body: { ...body, nodes: Object.fromEntries(await Promise.all(nodes)) }, warnings };
}

/**
 * Checks before the start that every model named by a task exists; if a task names no model, the default model has to
 * exist, too.
 */
export async function checkModels(
  body: Body,
  models: ModelSource,
  runnerOf: (task: Task) => RunnerName | undefined,
): Promise<void> {
  const asked = new Map<string, readonly ModelWish[]>();
  for (const node of Object.values(body.nodes)) {
    if (node.kind === "loop") await checkModels(node.body, models, runnerOf);
    if (node.kind !== "task" || isForeign(runnerOf(node.task))) continue; // another agent program chooses its own model
    const { model } = node.task;
    asked.set([model ?? ""].flat().join(), model === undefined ? [] : [{ by: "call", names: model }]);
  }
  for (const wishes of asked.values()) {
    const found = await models.choose(wishes, { binding: "call" });
    if ("misses" in found) throw noModel(found.misses);
  }
}
