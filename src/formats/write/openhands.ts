import { frontmatter } from "./markdown.ts";
import { modelFor } from "./model-words.ts";
import { openhandsTools } from "./spelling.ts";
import { described, fileName, formOf, hasAllTools, some, type Writer, writtenKeys } from "./writer.ts";

/** Writes agents of OpenHands. Its editor tool reads and writes, so a read-only agent does not get it. */
export const openhandsWriter: Writer = {
  folder: ".openhands/agents",
  file: (name) => `${fileName(name)}.md`,
  carries: "color hooks condenser mcp_config profile_store_dir".split(" "),
  notes: {
    tools: "OpenHands has one tool for reading and writing files",
    disallowedTools:
      "OpenHands has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, openhandsTools);
    const writes = hasAllTools(agent) || agent.tools?.some((tool) => tool === "write_file" || tool === "edit_file");
    const keys = {
      name: agent.name,
      description: described(agent),
      model: modelFor(agent, { words: { inherit: "inherit" }, bare: "any" }),
      tools: hasAllTools(agent) ? undefined : tools?.filter((word) => writes || word !== "file_editor"),
      skills: some(agent.skills),
      max_iteration_per_run: agent.limits?.maxTurns,
    };
    return frontmatter(writtenKeys({ ...keys, ...extra }), agent.instructions);
  },
};
