import type { ModelWish } from "../core/model/choose.ts";
import type { Body } from "../core/plan/plan.ts";
import type { Task } from "../core/plan/task.ts";
import type { ModelSource } from "../core/task/runner.ts";
import { isForeign, type RunnerName } from "../core/vocabulary/runner-name.ts";
import { noModel } from "../models/registry/registry.ts";

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
