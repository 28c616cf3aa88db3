import type { AgentInput } from "../../core/agent/agent.ts";
import type { FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { RESERVED_INPUT } from "../../core/vocabulary/agent-name.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { addProblem, type Draft, defineFields, type KeyReader, put } from "../fields/draft.ts";
import { stemOf } from "../fields/finish.ts";
import { reservedInputProblem } from "../fields/inputs.ts";
import { failedReading, readRecord } from "../fields/records.ts";
import { bad, kept, limit, model, note, number, output, text } from "../fields/rules.ts";
import { narrowing } from "../fields/narrowing.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { asData, readJson } from "../yaml/json.ts";
import { LONG_YAML, readYaml } from "../yaml/yaml.ts";
import { extensions } from "./goose-extensions.ts";

/**
 * Reads goose's recipes, in YAML or JSON, in the forms that goose's command-line program and its desktop program write.
 */
export function readRecipe(source: string, place: FilePlace): ParsedFile {
  const read = place.relative.endsWith(".json") ? readJson(source) : readYaml(withPlainLines(source), LONG_YAML);
  if (!read.ok) {
    const line = read.line === undefined ? {} : { line: read.line };
    return failedReading(
      problem("bad-yaml", `The goose recipe in this file is not valid YAML or JSON: ${read.reason}.`, line),
    );
  }
  const whole = asData(read.value);
  const data = asData(whole?.["recipe"]) ?? whole;
  if (data === undefined)
    return failedReading(problem("bad-definition", "The file does not contain a goose recipe (one object)."));
  const defaultName = stemOf(place.relative);
  return readRecord(fields, data, { place, freeName: true, defaultName, settle: (draft) => settle(draft, data) });
}

const withPlainLines = (source: string): string => source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");

/**
 * Reads `[{ key, input_type, requirement, description }]`. A parameter that is required, or that goose asks the user
 * for, is a required input.
 */
const parameters: KeyReader = (draft, value, key) => {
  if (!Array.isArray(value)) return bad(draft, key, "a list of parameters");
  const inputs = Object.create(null) as Record<string, AgentInput>;
  for (const parameter of value) {
    const { key: name, input_type: type, description, requirement } = asData(parameter) ?? {};
    if (typeof name !== "string") bad(draft, key, "a list of parameters, each with a key");
    else if (name === RESERVED_INPUT) addProblem(draft, "reserved-name", reservedInputProblem(name), { field: key });
    else
      inputs[name] = {
        type: type === "number" || type === "boolean" ? type : "string",
        description: typeof description === "string" ? description : "",
        required: requirement === "required" || requirement === "user_prompt",
      };
  }
  put(draft, "inputs", inputs, key);
};

/** Reads `{ goose_provider, goose_model, temperature, max_turns }`. */
const settings: KeyReader = (draft, value, key) => {
  if (!isRecord(value)) return bad(draft, key, "an object of settings");
  const { goose_provider: provider, goose_model: name, temperature, max_turns: turns, ...others } = value;
  if (typeof name === "string") model(draft, typeof provider === "string" ? `${provider}/${name}` : name, key);
  if (temperature !== undefined) number("temperature")(draft, temperature, key);
  if (turns !== undefined) limit("maxTurns")(draft, turns, key);
  for (const other of Object.keys(others)) kept()(draft, undefined, `${key}.${other}`);
};

const response: KeyReader = (draft, value, key) =>
  isRecord(value) ? output(draft, value["json_schema"] ?? null, key) : bad(draft, key, "{ json_schema }");

/** Reads the key `prompt`: beside instructions it is the first message; otherwise it is the whole prompt. */
const prompt: KeyReader = (draft, value, key) => {
  if (typeof value !== "string") bad(draft, key, "a text");
};

const fields = defineFields({
  ...narrowing(),
  title: text("displayName"),
  description: text("description"),
  instructions: text("instructions"),
  prompt,
  parameters,
  settings,
  response,
  extensions,
  subRecipes: kept("has no effect in subcrew; use agents instead"),
  retry: kept("has no effect in subcrew; no checks are run"),
  activities: kept(),
  context: kept(),
  version: note,
  author: note,
});

/** Turns `{{ name }}` of a recipe into `${name}`. */
function settle(draft: Draft, { prompt: first }: Data): void {
  const { agent } = draft;
  if (agent.instructions === undefined) text("instructions")(draft, first ?? null, "prompt");
  else if (first !== undefined)
    kept("is the first message in goose; in subcrew the task takes its place")(draft, first, "prompt");
  if (agent.instructions === undefined)
    return addProblem(draft, "bad-definition", 'The goose recipe has neither "instructions" nor a "prompt".');
  const inputs = agent.inputs ?? {};
  agent.instructions = agent.instructions.replace(/\{\{\s*(\w+)\s*\}\}/g, (written, name: string) =>
    Object.hasOwn(inputs, name) ? `\${${name}}` : written,
  );
  if (agent.instructions.includes("{%"))
    addProblem(
      draft,
      "no-effect",
      "Conditions and loops in the template of this goose recipe are not evaluated; the model gets them as plain text.",
    );
}
