import type { Agent } from "../core/agent/agent.ts";
import type { Dialect, FilePlace, ReadAgent } from "../core/agent/dialect.ts";
import { firstParagraph, type Skill, type WorkflowCommand } from "../core/agent/skill.ts";
import { CrewError } from "../core/schema/error.ts";
import { foldName } from "../core/vocabulary/tool-names.ts";
import { commandFiles, skillFiles } from "../embedded.ts";
import { defineFields } from "./fields/draft.ts";
import { listOf } from "./fields/lists.ts";
import { isMarkdown, markdown } from "./fields/markdown.ts";
import { flagOf, kept, model, note, text } from "./fields/rules.ts";

const fields = defineFields({
  name: text("name"),
  description: text("description"),
  model,
  context: note,
  agent: note,
  allowedTools: note,
  argumentHint: note,
  arguments: note,
  disableModelInvocation: note,
  userInvocable: note,
  whenToUse: text("whenToUse"),
  effort: kept(),
  paths: kept(),
  shell: kept("is never run from a file"),
  hooks: kept("is never run from a file"),
  subtask: note,
  mode: note,
  tools: note,
  license: note,
  compatibility: note,
  version: note,
  author: note,
  tags: note,
  metadata: note,
});

const folderOf = ({ relative }: FilePlace): string => relative.split("/").at(-2) ?? "";

/**
 * Skills: a `SKILL.md` in a folder of its own. If its keys give no name or description, they come from the folder and
 * from the first line.
 */
export const skillDialect: Dialect = markdown({
  id: "skill",
  accepts: (name) => name === "SKILL.md",
  fields,
  nameFromFile: folderOf,
  freeName: true,
  description: "optional",
  bare: true,
});

/**
 * The name of a command from its path: `frontend/test.md` is `frontend:test`; the command is also found as
 * `frontend/test`.
 */
const nameOf = ({ relative }: FilePlace): string => relative.replace(/(?:\.prompt)?\.md$/, "").replaceAll("/", ":");

/** Workflow commands: a prompt in a Markdown file, with or without frontmatter. */
export const commandDialect: Dialect = markdown({
  id: "command",
  accepts: (name) => isMarkdown(name) && !/^readme\.md$/i.test(name),
  ignoreUnderscore: true,
  fields,
  nameFromFile: nameOf,
  freeName: true,
  description: "optional",
  bare: true,
  settle: (draft, _data, { relative }) => {
    if (relative.includes("/")) draft.aliases = [relative.replace(/\.md$/, "")];
  },
});

/** An agent that was read from a file or found by the search for agents. */
type Given = Readonly<{ agent: Agent; read: ReadAgent; file?: string }>;

/** Converts a file to a skill. */
export function skillOf({ agent, read: { raw }, file }: Given): Skill {
  const word = (key: string): string | undefined => wordOf(raw, key);
  const allowed = listOf(valueOf(raw, "allowedTools"));
  const [name, hint] = [word("agent"), word("argumentHint")];
  return {
    name: agent.name,
    description: agent.description === "" ? firstParagraph(agent.instructions) : agent.description,
    instructions: agent.instructions,
    context: word("context") === "fork" ? "fork" : "inline",
    disableModelInvocation: flagOf(valueOf(raw, "disableModelInvocation")) ?? false,
    userInvocable: flagOf(valueOf(raw, "userInvocable")) ?? true,
    source: agent.source?.kind === "inline" || agent.source === undefined ? "bundled" : agent.source.kind,
    ...(name === undefined ? {} : { agent: name }),
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(allowed === undefined ? {} : { allowedTools: allowed }),
    ...(hint === undefined ? {} : { argumentHint: hint }),
    ...(file === undefined ? {} : { file }),
  };
}

/** Converts a file to a workflow command. */
export function commandOf(given: Given): WorkflowCommand {
  const { name, description, instructions, agent, model: models, argumentHint, source, file } = skillOf(given);
  return {
    name,
    description,
    instructions,
    source,
    ...(agent === undefined ? {} : { agent }),
    ...(models === undefined ? {} : { model: models }),
    ...(argumentHint === undefined ? {} : { argumentHint }),
    ...(file === undefined ? {} : { file }),
  };
}

/** The bundled skills. */
export const readBundledSkills = (): readonly ReadAgent[] => bundled(skillDialect, skillFiles);

/** The bundled workflow commands. */
export const readBundledCommands = (): readonly ReadAgent[] => bundled(commandDialect, commandFiles);

function bundled(dialect: Dialect, files: Readonly<Record<string, string>>): readonly ReadAgent[] {
  return Object.entries(files).map(([name, content]) => {
    const [read] = dialect.read(content, { file: `${name}.md`, relative: `${name}.md` }).agents;
    if (read === undefined)
      throw new CrewError("BAD_AGENT", `The bundled file ${name}.md is damaged.`, "Reinstall subcrew.");
    return read;
  });
}

/** The value of a key, in any spelling that files use: `argument-hint`, `argumentHint`. */
function valueOf(raw: ReadAgent["raw"], key: string): unknown {
  const folded = foldName(key);
  const written = Object.keys(raw).find((one) => foldName(one) === folded);
  return written === undefined ? undefined : raw[written];
}

function wordOf(raw: ReadAgent["raw"], key: string): string | undefined {
  const value = valueOf(raw, key);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
