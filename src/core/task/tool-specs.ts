import type { ToolCall, ToolSpec } from "../model/model.ts";
import { permit, type Rights } from "../policy/permit.ts";
import { isZodType, plainSchemaOf } from "../schema/standard-schema.ts";
import { isDeeplyNested, type JsonSchema, TOO_DEEP_JSON } from "../text/json.ts";
import { styledToolNames, type ToolNameStyle } from "../vocabulary/tool-name-styles.ts";
import type { Tool } from "./tool.ts";

/** The tools shown to the model: exactly those it may execute. */
export function toolSpecs(
  tools: ReadonlyMap<string, Tool>,
  rights: Rights,
  style: ToolNameStyle = "canonical",
): ToolSpec[] {
  return [...tools.values()]
    .filter(({ name }) => permit(rights, name).allowed)
    .map((tool) => ({
      name: shownName(tool, tools, style),
      description: tool.description,
      input: inputSchemaOf(tool),
    }));
}

/** The tool name that the model sees. The styled name is not used if another tool already has it. */
function shownName({ name }: Tool, tools: ReadonlyMap<string, Tool>, style: ToolNameStyle): string {
  const styled = Object.hasOwn(styledToolNames[style], name) ? styledToolNames[style][name]! : name;
  return tools.has(styled) ? name : styled;
}

/** The JSON Schema of a tool's input. */
export const inputSchemaOf = ({ input }: Tool): JsonSchema => (isZodType(input) ? plainSchemaOf(input) : input);

/** Maximum length of the arguments of one tool call, all strings and keys together. */
const MOST_ARGUMENTS = 12_000_000;

/** The text that replaces arguments that are too long; such arguments are neither recorded nor sent to the model. */
const DROPPED = "[arguments dropped: too long]";

/** The text that replaces arguments that are nested too deeply, in the same way. */
export const DROPPED_DEEP = "[arguments dropped: nested too deeply]";

/** A tool call whose arguments are within the limits. */
export function boundedCall(call: ToolCall): ToolCall {
  if (isDeeplyNested(call.input)) return { ...call, input: DROPPED_DEEP };
  return sizeOf(call.input) > MOST_ARGUMENTS ? { ...call, input: DROPPED } : call;
}

/** Approximate length of a value; counting stops at the limit. */
function sizeOf(value: unknown, most: number = MOST_ARGUMENTS): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && size <= most) {
    const next = open.pop();
    if (typeof next === "string") size += next.length;
    else if (typeof next === "object" && next !== null)
      for (const [key, inner] of Object.entries(next)) {
        size += key.length + 1;
        open.push(inner);
        if (size > most) break;
      }
    else size += 8;
  }
  return size;
}

/** The parsed arguments of a tool call, or the problem with them. */
export function parseArguments({ input }: Tool, value: unknown): { value: unknown } | { problem: string } {
  if (value === DROPPED || sizeOf(value) > MOST_ARGUMENTS)
    return {
      problem: `they are longer than ${MOST_ARGUMENTS} characters: pass the data in parts, or by way of a file`,
    };
  if (value === DROPPED_DEEP || isDeeplyNested(value))
    return { problem: `they are ${TOO_DEEP_JSON}: pass flatter data` };
  if (!isZodType(input)) return { value };
  const parsed = input.safeParse(value ?? {});
  if (parsed.success) return { value: parsed.data };
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  return { problem: problems.join("; ") };
}
