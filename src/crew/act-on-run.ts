import type { Receipt } from "../core/run/run-command.ts";
import type { Crew } from "./crew-type.ts";

/**
 * Carries out an action of a screen in this process; `words`: the command line of the action, without `subcrew`.
 * `undefined`: the action needs a process of its own.
 */
export function actOnRun(crew: Crew, [verb, key = ""]: readonly string[]): Promise<Receipt> | undefined {
  const [id = "", ...path] = key.split("/");
  if (verb === "stop") return crew.open(id).pause();
  if (verb === "cancel") return crew.open(id).cancel(path.length === 0 ? {} : { task: path.join("/") });
  return undefined;
}
