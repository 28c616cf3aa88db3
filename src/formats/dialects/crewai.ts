import type { Dialect, FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { isRecord } from "../../core/text/json.ts";
import { problem } from "../../core/vocabulary/file-problem.ts";
import { type Draft, defineFields, type KeyReader } from "../fields/draft.ts";
import { failedReading, joinReadings, readRecord } from "../fields/records.ts";
import { flagOf, kept, limit, model, text } from "../fields/rules.ts";
import { allow } from "../fields/denied-tools.ts";
import { tools } from "../fields/tools.ts";
import { narrowing } from "../fields/narrowing.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { LONG_YAML, readYaml, yamlLineOf } from "../yaml/yaml.ts";

/**
 * Reads `allow_delegation`. In CrewAI an agent may then delegate to the agents of its crew, in subcrew to any agent.
 */
const allowDelegation: KeyReader = (draft, value, key) => {
  if (flagOf(value) !== true) return;
  draft.agent.spawns = "*";
  draft.from["spawns"] = key;
};

const part: KeyReader = (draft, _value, key) => void (draft.from["instructions"] ??= key);

const fields = defineFields({
  ...narrowing(),
  role: text("displayName"),
  goal: text("description"),
  backstory: part,
  llm: model,
  tools: tools(),
  maxIter: limit("maxTurns"),
  maxExecutionTime: limit("maxDurationMs", 1000),
  allowDelegation,
  ...Object.fromEntries(
    "maxRpm verbose cache reasoning memory functionCallingLlm stepCallback systemTemplate promptTemplate responseTemplate"
      .split(" ")
      .concat(
        "allowCodeExecution maxRetryLimit respectContextWindow codeExecutionMode multimodal injectDate".split(" "),
      )
      .map((key) => [key, kept()]),
  ),
});

/** CrewAI's `config/agents.yaml`: one file with all agents of a crew. Other files with this name are ignored. */
export const crewaiDialect: Dialect = {
  id: "crewai",
  accepts: (name) => name === "agents.yaml",
  read: (source, place): ParsedFile => {
    const read = readYaml(source.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"), LONG_YAML);
    if (!read.ok)
      return failedReading(
        problem("bad-yaml", `The file of CrewAI agents is not valid YAML: ${read.reason}.`, { severity: "warning" }),
      );
    const agents = isRecord(read.value) ? Object.entries(read.value).filter(isAgent) : [];
    return joinReadings(agents.map(([name, data]) => readAgent(name, data, place)));
  },
  lineOf: yamlLineOf,
};

const isAgent = (entry: [string, unknown]): entry is [string, Data] => {
  const [, data] = entry;
  return isRecord(data) && ["role", "goal", "backstory"].every((key) => typeof data[key] === "string");
};

function readAgent(name: string, data: Data, place: FilePlace): ParsedFile {
  const [role, goal, backstory] = ["role", "goal", "backstory"].map((key) => String(data[key]).trim());
  const settle = (draft: Draft): void => {
    draft.agent.displayName = role ?? name;
    draft.agent.instructions = `You are ${role}.\n\n${backstory}\n\nYour goal: ${goal}`;
    if (draft.agent.tools === undefined) allow(draft, [], "(dialect)"); // CrewAI assigns the tools of an agent in code, so the file names none
  };
  return readRecord(fields, data, { place, freeName: true, defaultName: name, settle });
}
