import { modelNames } from "../../core/vocabulary/model-name.ts";
import { frontmatter } from "./markdown.ts";
import { piTools } from "./spelling.ts";
import { csv, described, fileName, formOf, plainSpawns, some, type Writer, writtenKeys } from "./writer.ts";

/** Writes Markdown files of the pi family, with the keys of its subagent extensions. */
export const piWriter: Writer = {
  folder: ".pi/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "color extensions systemPromptMode inheritProjectContext inheritSkills defaultContext".split(" "),
  write: (read, extra) => {
    const { agent, tools, denied } = formOf(read, piTools, { denies: true });
    const [first, ...more] = agent.model === undefined ? [] : modelNames(agent.model);
    const keys = {
      name: agent.name,
      description: described(agent),
      display_name: agent.displayName,
      aliases: some(read.aliases?.filter((alias) => alias !== agent.displayName)),
      extends: agent.extends,
      tools: csv(tools),
      disallowed_tools: csv(some(denied)),
      allowed_subagents: plainSpawns(agent),
      model: first,
      fallbackModels: some(more),
      thinking: agent.thinking,
      skills: agent.skills,
      max_turns: agent.limits?.maxTurns,
      timeoutMs: agent.limits?.maxDurationMs,
      run_in_background: agent.background,
      isolation: agent.isolation,
      memory: agent.memory,
      enabled: read.disabled ? false : undefined,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
