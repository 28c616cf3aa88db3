import { yamlOf } from "./markdown.ts";
import { rooGroups } from "./spelling.ts";
import { formOf, type Writer, writtenKeys } from "./writer.ts";

/** What every mode may have. */
const ALL = ["read", "edit", "command", "mcp"];

/** Roo Code's file of modes, with this one in it. */
export const rooWriter: Writer = {
  folder: "",
  file: () => ".roomodes",
  carries: [],
  notes: {
    tools: "Roo knows groups of tools",
    displayName: "a mode of Roo has a name for people",
    disallowedTools: "Roo knows no list of denied tools; they were taken out of the list of tools where there is one",
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
