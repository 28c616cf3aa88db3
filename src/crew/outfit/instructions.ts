import { homedir } from "node:os";
import { instructionFilesOf } from "../../core/agent/instruction-files.ts";
import { type InstructionPlace, readInstructions } from "../../runtime/discovery/project-instructions.ts";
import { projectTrust } from "../../runtime/settings/project-trust.ts";
import type { World } from "../../runtime/task/world.ts";
import { type CrewSetup, homeOf } from "./setup.ts";

/** The project's instructions for agents. Each file that is left out is reported once. */
export function instructionsFor(setup: CrewSetup): NonNullable<World["instructions"]> {
  const said = new Set<string>();
  return (agent, folder) => {
    const files = instructionFilesOf(agent.source, agent.projectInstructions);
    if (setup.projectInstructions === false || "why" in files) return { text: "", notes: [] };
    const { text, files: told, left } = readInstructions(files, instructionPlace(setup, folder));
    const all = [
      ...left.map(({ file, why }) => `The instructions in ${file} are left out: ${why}. \`subcrew trust\` shows them.`),
      ...told.flatMap(({ file, cut }) =>
        cut ? [`The instructions in ${file} are too long; a part is left out.`] : [],
      ),
    ];
    const notes = all.filter((line) => !said.has(line));
    for (const line of notes) said.add(line);
    return { text, notes };
  };
}

/** Where instructions for a folder are searched, and which files this crew trusts. */
export function instructionPlace(
  setup: Pick<CrewSetup, "cwd" | "env" | "userHome" | "trusted" | "home" | "permissions">,
  cwd: string,
): InstructionPlace {
  return {
    cwd,
    home: setup.userHome ?? setup.env["HOME"] ?? homedir(),
    trust: projectTrust({ ...setup, state: homeOf(setup) }),
  };
}
