import { frontmatter } from "./markdown.ts";
import { effortWord, modelsFor } from "./model-words.ts";
import { copilotTools } from "./spelling.ts";
import { fileName, formOf, plainSpawns, type Writer, writtenKeys } from "./writer.ts";

/** Writes GitHub Copilot's `.agent.md`; the file is named after the agent. */
export const copilotWriter: Writer = {
  folder: ".github/agents",
  file: (name) => `${fileName(name)}.agent.md`,
  carries: "target handoffs argumentHint userInvocable metadata".split(" "),
  notes: {
    disallowedTools:
      "Copilot has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, copilotTools);
    const models = modelsFor(agent, { bare: "any" });
    const keys = {
      name: agent.displayName,
      description: agent.description === "" ? undefined : agent.description,
      tools,
      agents: agent.spawns === "*" ? ["*"] : plainSpawns(agent),
      model: models?.length === 1 ? models[0] : models,
      "reasoning-effort": effortWord(agent, ["minimal", "low", "medium", "high", "xhigh"]),
      "disable-model-invocation": agent.hidden,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
