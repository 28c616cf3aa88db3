import type { ToolCall, ToolSpec } from "../model/model.ts";
import { permit, type Rights } from "../policy/permit.ts";
import { modelSchemaOf } from "../schema/model-schema.ts";
import { isZodType, plainSchemaOf } from "../schema/standard-schema.ts";
import { DEEPEST_JSON, type JsonSchema, TOO_DEEP_JSON } from "../text/json.ts";
import { styledToolNames, type ToolNameStyle } from "../vocabulary/tool-name-styles.ts";
import type { Tool } from "./tool.ts";

/** The tools shown to the model: exactly the tools that it may execute. */
export function toolSpecs(
  tools: ReadonlyMap<string, Tool>,
  rights: Rights,
  style: ToolNameStyle = "canonical",
): ToolSpec[] {
  return [...tools.values()]
    .filter(({ name }) => permit(rights, name).allowed)
    .map((tool) => ({
      name: shownName(tool.name, tools, style),
      description: tool.description,
      input: inputSchemaOf(tool),
    }));
}

/** The tool name that the model sees. The styled name is not used if another tool already has it. */
export function shownName(name: string, tools: ReadonlyMap<string, Tool>, style: ToolNameStyle = "canonical"): string {
  const styled = Object.hasOwn(styledToolNames[style], name) ? styledToolNames[style][name]! : name;
  return tools.has(styled) ? name : styled;
}

/** The JSON Schema of a tool's input, as a model reads it. */
export const inputSchemaOf = ({ input }: Tool): JsonSchema =>
  modelSchemaOf(isZodType(input) ? plainSchemaOf(input) : input);

/** Maximum length of the arguments of one tool call, all strings and keys together. */
const MOST_CHARACTERS = 12_000_000;
/** Maximum number of values in the arguments of one tool call: numbers, texts, lists, entries of objects. */
const MOST_VALUES = 100_000;

const PARTS = "pass the data in parts, or by way of a file";
/**
 * The limits of arguments. For each limit: the text that replaces arguments beyond it, which are neither recorded nor
 * sent to the model, and the problem that the model reads.
 */
const EXCESS = {
  long: {
    dropped: "[arguments dropped: too long]",
    problem: `they are longer than ${MOST_CHARACTERS} characters: ${PARTS}`,
  },
  many: {
    dropped: "[arguments dropped: too many values]",
    problem: `they have more than ${MOST_VALUES} values: ${PARTS}`,
  },
  deep: { dropped: "[arguments dropped: nested too deeply]", problem: `they are ${TOO_DEEP_JSON}: pass flatter data` },
} as const;

/** The text that replaces arguments that are nested too deeply. */
export const DROPPED_DEEP = EXCESS.deep.dropped;

/** A tool call whose arguments are within the limits. */
export function boundedCall(call: ToolCall): ToolCall {
  const excess = excessOf(call.input);
  return excess ? { ...call, input: EXCESS[excess].dropped } : call;
}

/**
 * The limit that a value exceeds. Counting stops at the limit, so that it takes little time for a value of any size.
 */
function excessOf(value: unknown): keyof typeof EXCESS | undefined {
  let [size, count] = [0, 0];
  let level: object[] = [];
  let below: object[] = [];
  const take = (inner: unknown): void => {
    count += 1;
    if (typeof inner === "string") size += inner.length;
    else if (typeof inner === "object" && inner !== null) below.push(inner);
  };
  take(value);
  for (let depth = 0; below.length > 0; depth += 1) {
    if (depth === DEEPEST_JSON) return "deep";
    [level, below] = [below, []];
    for (const each of level) {
      if (Array.isArray(each)) {
        if (count + each.length > MOST_VALUES) return "many";
        for (const inner of each as unknown[]) take(inner);
      } else
        for (const key in each) {
          if (!Object.hasOwn(each, key)) continue;
          size += key.length;
          take((each as Record<string, unknown>)[key]);
          if (count > MOST_VALUES) return "many";
        }
      if (size > MOST_CHARACTERS) return "long";
    }
  }
  return size > MOST_CHARACTERS ? "long" : undefined;
}

/** The limit that the arguments of a call exceed, as a problem for the model. */
export function excessProblem(value: unknown): string | undefined {
  const dropped = Object.values(EXCESS).find((each) => each.dropped === value);
  const excess = excessOf(value);
  return (dropped ?? (excess && EXCESS[excess]))?.problem;
}
