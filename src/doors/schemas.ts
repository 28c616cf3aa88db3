import { z } from "zod";
import { config } from "../core/config/config.ts";
import { plan } from "../core/plan/plan.ts";
import { eventSchema } from "../core/run/event.ts";
import { resultSchema } from "./result-schema.ts";
import type { JsonSchema } from "../core/text/json.ts";
import { inputOf } from "../modes/compile.ts";

const titles = {
  config: "Settings of subcrew: config.yaml",
  plan: "A plan of subcrew: subcrew run --plan FILE",
  team: "A team of subcrew: subcrew team --input FILE",
  input: "The input of any mode of subcrew: --input FILE",
  event: "An event of a run: one line of --json",
  result: "The result of a run: -o json",
} as const;

/**
 * The files that subcrew reads and writes; `schemas/NAME.json` in the package has the same content, for editors and
 * other languages.
 */
export type SchemaName = keyof typeof titles;
export const schemaNames: readonly SchemaName[] = Object.keys(titles) as SchemaName[];

/** The JSON Schema (2020-12) of a file that subcrew reads, or writes. */
export function jsonSchemaFor(name: SchemaName): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(types[name](), { io: "input", unrepresentable: "any" });
  return { $schema, $id: `subcrew/schemas/${name}.json`, title: titles[name], ...schema };
}

const modes = ["single", "parallel", "chain", "race", "team"] as const;
const withoutMode = (mode: (typeof modes)[number]): z.ZodObject => inputOf(mode).partial({ mode: true });

const types: Readonly<Record<SchemaName, () => z.ZodType>> = {
  config: () => config,
  plan: () => plan,
  team: () => withoutMode("team"),
  input: () => z.union(modes.map(withoutMode)),
  event: eventSchema,
  result: () => resultSchema,
};
