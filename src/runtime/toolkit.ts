import { z } from "zod";
import type { JsonSchema } from "../core/json.ts";
import type { ToolSpec } from "../core/model.ts";
import { permit, type Rights } from "../core/permit.ts";
import type { Tool } from "../core/tool.ts";

/** The tools that a model is shown: exactly those that would be executed. */
export function toolSpecs(tools: ReadonlyMap<string, Tool>, rights: Rights): ToolSpec[] {
  return [...tools.values()]
    .filter(({ name }) => permit(rights, name).allowed)
    .map((tool) => ({ name: tool.name, description: tool.description, input: inputSchemaOf(tool) }));
}

const schemas = new WeakMap<object, JsonSchema>();

/** The JSON Schema of a tool's input; made once per tool, which never changes. */
export function inputSchemaOf({ input }: Tool): JsonSchema {
  if (!isZod(input)) return input;
  const known = schemas.get(input);
  if (known) return known;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: "input" }) as JsonSchema;
  schemas.set(input, schema);
  return schema;
}

/** The arguments of a call as the tool wants them, or what is wrong with them. */
export function parseArguments({ input }: Tool, value: unknown): { value: unknown } | { problem: string } {
  if (!isZod(input)) return { value };
  const parsed = input.safeParse(value ?? {});
  if (parsed.success) return { value: parsed.data };
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  return { problem: problems.join("; ") };
}

function isZod(input: Tool["input"]): input is z.ZodType {
  return "safeParse" in input && typeof input["safeParse"] === "function";
}
