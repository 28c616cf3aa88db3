import { type ConfigPath, config as schema } from "../../core/config/config.ts";
import { fromLeaves } from "../../core/config/layers.ts";
import { CrewError } from "../../core/schema/error.ts";
import { faultsOf } from "../../core/schema/parse.ts";
import { keysAt } from "../../core/schema/schema-place.ts";
import { nearest } from "../../core/text/nearest.ts";
import { readYaml } from "../../formats/yaml/yaml.ts";

/** Parses a key such as `agents.explore.model`; a name that contains a dot is quoted. */
export function knownPath(key: string): ConfigPath {
  const steps = Array.from(key.matchAll(/"([^"]+)"|([^."]+)/g), (match) => match[1] ?? match[2]!);
  for (const [at, step] of steps.entries()) {
    const above = steps.slice(0, at);
    const known = keysAt(schema, above);
    if (known.length === 0 || known.includes(step)) continue;
    const rest = steps.slice(at).join("."); // the key of a hook contains a dot, as in `on.run.ended`
    if (known.includes(rest)) return [...above, rest];
    const close = nearest(rest, known) ?? nearest(step, known);
    throw new CrewError(
      "BAD_INPUT",
      `Unknown setting "${steps.slice(0, at + 1).join(".")}".`,
      close === undefined ? `Known keys: ${known.join(", ")}.` : `Did you mean "${[...above, close].join(".")}"?`,
    );
  }
  if (steps.length > 0) return steps;
  throw new CrewError("BAD_INPUT", "No setting given.", "Give a key, as in `subcrew config get model`.");
}

/**
 * The value of a typed text: parsed as YAML, as a comma-separated list, or the text itself. The first form that the
 * schema accepts is used.
 */
export function valueFor(path: ConfigPath, text: string): unknown {
  const read = readYaml(text);
  const value = read.ok ? read.value : undefined;
  const list = text.split(",").map((part) => part.trim());
  const isPlain = typeof value === "string" || value === undefined || value === null;
  const candidates = [...(isPlain ? [] : [value]), ...(list.length > 1 ? [list] : []), text, list];
  const faultOf = (value: unknown): ReturnType<typeof faultsOf>[number] | undefined =>
    faultsOf(schema, fromLeaves([[path, value]]), "settings").find(({ path: at }) =>
      path.every((step, index) => at[index] === undefined || at[index] === step),
    );
  const fits = candidates.find((value) => faultOf(value) === undefined);
  if (fits !== undefined) return fits;
  const fault = faultOf(candidates[0]);
  throw new CrewError(
    "BAD_CONFIG",
    fault?.message ?? `"${text}" is not a valid value for this setting.`,
    fault?.hint ?? "docs/config.md lists the values of each setting.",
  );
}

/** A value as one line of text. */
export const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
