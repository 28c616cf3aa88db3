import type { Model } from "../../core/model/model.ts";
import type { ChosenModel } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { modelNames, parseModelName } from "../../core/vocabulary/model-name.ts";
import { tierNames } from "../../core/vocabulary/tiers.ts";

/** Model names that only subcrew understands, and that are not passed to other programs. */
const OURS: ReadonlySet<string> = new Set([...tierNames, "inherit", "auto", "default", "offline"]);

/**
 * The model of a task in another agent program: the first requested name, which is passed to that program, or the
 * program's own model. subcrew itself never calls the model.
 */
export function foreignModel(
  runner: string,
  ...wishes: readonly (string | readonly string[] | undefined)[]
): ChosenModel {
  const names = wishes.flatMap((wish) => (wish === undefined ? [] : modelNames(wish))).map(parseModelName);
  const named = names.find(({ name }) => !OURS.has(name) && !name.startsWith("scripted:"));
  return {
    name: named?.name ?? runner,
    id: named?.name ?? "",
    ref: named?.name ?? "auto",
    why: named ? `the named model is a model of ${runner}` : `${runner} chooses the model`,
    ...defined({ thinking: named?.thinking }),
    model: modelOfOthers(`${runner} calls its models itself`),
  };
}

/** The model of a task that another program or a server executes: it fails, because subcrew never calls it. */
export function modelOfOthers(message: string): Model {
  return async function* () {
    yield { type: "error", fault: { code: "UNSUPPORTED", message, retryable: false } };
  };
}
