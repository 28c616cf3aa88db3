import type { Miss } from "../../core/model/choose.ts";
import { CrewError } from "../../core/schema/error.ts";

/** The error for a missing model, with a hint. */
export function noModel(misses: readonly Miss[]): CrewError {
  const [first] = misses;
  return new CrewError(first?.code ?? "UNKNOWN_MODEL", missed(misses), first?.hint ?? "Name a model with --model.");
}

function missed(misses: readonly Miss[]): string {
  const [first, ...more] = misses;
  if (!first) return "No model is available here.";
  if (more.length > 0)
    return `None of these models can be used: ${misses.map(({ name, because }) => `${name} (${because})`).join(", ")}.`;
  const { name, because } = first;
  return because.includes(name)
    ? `${because[0]?.toUpperCase()}${because.slice(1)}.`
    : `The model ${name} cannot be used: ${because}.`;
}
