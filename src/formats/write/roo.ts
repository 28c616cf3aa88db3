import { yamlOf } from "./markdown.ts";
import { rooGroups } from "./spelling.ts";
import { formOf, type Writer, writtenKeys } from "./writer.ts";

/** The groups of tools that Roo Code knows. */
const ALL = ["read", "edit", "command", "mcp"];

/** Writes Roo Code's file of modes (its word for agents), which then contains only this agent. */
export const rooWriter: Writer = {
  folder: "",
  file: () => ".roomodes",
  carries: [],
  notes: {
    tools: "Roo has groups of tools",
    displayName: "a Roo mode has a display name",
    disallowedTools:
      "Roo has no list of denied tools; the denied tools were removed from the tool list, if the agent has one",
  },
  write: (read, extra) => {
    const { agent, tools } = formOf(read, rooGroups);
    const mode = {
      slug: agent.name,
      name: agent.displayName ?? agent.name,
      description: agent.description === "" ? undefined : agent.description,
      whenToUse: agent.whenToUse,
      roleDefinition: agent.instructions,
      groups: agent.tools === undefined || agent.tools.includes("*") ? ALL : tools,
    };
    return yamlOf({ customModes: [writtenKeys({ ...mode, ...extra })] });
  },
};
