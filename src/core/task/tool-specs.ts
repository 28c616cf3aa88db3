import type { ToolSpec } from "../model/model.ts";
import { permit, type Rights } from "../policy/permit.ts";
import { isZodType, jsonSchemaOfZod } from "../schema/zod-schema.ts";
import type { JsonSchema } from "../text/json.ts";
import type { Tool } from "./tool.ts";

/** The tools that a model is shown: exactly those that would be executed. */
export function toolSpecs(tools: ReadonlyMap<string, Tool>, rights: Rights): ToolSpec[] {
  return [...tools.values()]
    .filter(({ name }) => permit(rights, name).allowed)
    .map((tool) => ({ name: tool.name, description: tool.description, input: inputSchemaOf(tool) }));
}

/** The JSON Schema of a tool's input. */
export const inputSchemaOf = ({ input }: Tool): JsonSchema => (isZodType(input) ? jsonSchemaOfZod(input) : input);

/** The arguments of a call as the tool wants them, or what is wrong with them. */
export function parseArguments({ input }: Tool, value: unknown): { value: unknown } | { problem: string } {
  if (!isZodType(input)) return { value };
  const parsed = input.safeParse(value ?? {});
  if (parsed.success) return { value: parsed.data };
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message));
  return { problem: problems.join("; ") };
}
