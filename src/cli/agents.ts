import type { CommandDefinition } from "./command.ts";
import { jsonOption, outputOptions, runningOptions } from "./flags.ts";

const kept: ReadonlySet<string> = new Set(["--cwd", "--trust", "--no-color"]);

/** `subcrew agents` */
export const agents: CommandDefinition = {
  description: "Lists the agents that can run here, with where each comes from.",
  options: [...runningOptions(), ...outputOptions()].filter(({ long }) => kept.has(long ?? "")).concat(jsonOption()),
  examples: [["subcrew agents --json", "for a program"]],
  act: async (_, flags) => {
    const [{ crewFor }, { table }, { terminal }] = await Promise.all([
      import("./start.ts"),
      import("./table.ts"),
      import("./terminal.ts"),
    ]);
    const { agents: found } = await (await crewFor(flags)).agents();
    const rows = found.map(({ name, agent }) => ({
      name,
      source: agent.source?.kind ?? "inline",
      description: agent.description,
    }));
    process.stdout.write(flags.json ? `${JSON.stringify(rows, null, 2)}\n` : table(rows, terminal(flags).look));
    return 0;
  },
};
