import { frontmatter } from "./markdown.ts";
import { ompTools } from "./spelling.ts";
import { described, fileName, formOf, plainSpawns, type Writer, writtenKeys } from "./writer.ts";

/** Writes oh-my-pi's Markdown files. */
export const ompWriter: Writer = {
  folder: ".omp/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "readSummarize prewalk advisor color".split(" "),
  notes: {
    completion: "oh-my-pi takes the result from its completion tool or the last answer",
    instructions: "oh-my-pi removes HTML comments from prompts",
    disallowedTools:
      "oh-my-pi has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, ompTools);
    const keys = {
      name: agent.name,
      description: described(agent),
      tools,
      spawns: plainSpawns(agent),
      model: agent.model,
      "thinking-level": agent.thinking,
      output: agent.output,
      blocking: agent.background === false ? true : undefined,
      autoloadSkills: agent.skills,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
