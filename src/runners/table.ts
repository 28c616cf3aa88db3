import type { Runner } from "../core/task/runner.ts";
import { ACP, isAcp, type RunnerRowName, type TaskRunner } from "../core/vocabulary/runner-name.ts";
import { loop } from "../runtime/loop/loop.ts";
import type { A2aParts } from "./a2a/a2a.ts";
import type { ForeignParts } from "./foreign/hand-over.ts";
import type { ForeignTool } from "./foreign/tool.ts";
import type { SpawnParts } from "./process/spawn-task.ts";

/** What a process hands to the runners that it opens. */
export type RunnerParts = Omit<SpawnParts, "entry"> &
  Readonly<{
    /** The program that receives a task in a process or thread of its own. */
    entry(): URL;
    /** The state about remote agents that all runs of a crew share. */
    remotes(): Promise<Omit<A2aParts, "linger">>;
  }>;

type RunnerRow = Readonly<{
  /** What carries out the task, for docs/runners.md; absent when an agent file decides it, and nobody names the runner. */
  what?: string;
  /** The program that a machine needs in PATH to carry out such tasks. */
  program?: string;
  /** The environment variables that the program needs, whatever starts it. */
  variables?(): Promise<readonly string[]>;
  /** `command`: the command line that follows the name, for a runner whose name is a prefix. */
  open(parts: RunnerParts, command: string): Promise<Runner>;
}>;

const SEPARATE =
  "a separate thread or process of subcrew; see [The library](library.md). `worker`, the former name of `thread`, is still accepted";

/**
 * All runners. A new runner is one file and one row: scripts/embed.mjs copies the names of the rows for the core, which
 * knows them in agent files, flags and schemas. A row whose name is not one of `ownRunners` chooses its model itself.
 */
export const runners: Readonly<Record<RunnerRowName, RunnerRow>> = {
  local: { what: "the process of subcrew itself (the default)", open: async () => loop },
  thread: {
    what: SEPARATE,
    open: async (parts) => (await import("./process/thread.ts")).threadRunner({ ...parts, entry: parts.entry() }),
  },
  process: {
    what: SEPARATE,
    open: async (parts) => (await import("./process/process.ts")).processRunner({ ...parts, entry: parts.entry() }),
  },
  a2a: {
    open: async ({ remotes, linger }) => (await import("./a2a/a2a.ts")).a2aRunner({ ...(await remotes()), linger }),
  },
  claude: program("claude", async () => (await import("./foreign/claude.ts")).claudeTool),
  codex: program("codex", async () => (await import("./foreign/codex.ts")).codexTool),
  gemini: program("gemini", async () => (await import("./foreign/gemini.ts")).geminiTool),
  opencode: program("opencode", async () => (await import("./foreign/opencode.ts")).opencodeTool),
  copilot: program("copilot", async () => (await import("./foreign/copilot.ts")).copilotTool),
  pi: program("pi", async () => (await import("./foreign/pi.ts")).piTool),
  acp: {
    what: "a process that speaks the [Agent Client Protocol](https://agentclientprotocol.com), as in `acp:gemini --acp`",
    open: async (parts, command) =>
      (await import("./foreign/acp.ts")).acpRunner(command, { ...foreignParts(parts), variablesOf }),
  },
};

/** Another agent program: its command line, its restrictions and its output are in the file. */
function program(name: string, load: () => Promise<ForeignTool>): RunnerRow {
  return {
    what: "the command of that tool",
    program: name,
    variables: async () => (await load()).variables,
    open: async (parts) => {
      const [{ commandRunner }, tool] = await Promise.all([import("./foreign/command.ts"), load()]);
      return commandRunner(name, tool, foreignParts(parts));
    },
  };
}

const foreignParts = ({ setup: { env, passEnv = [] }, linger }: RunnerParts): ForeignParts => ({
  env,
  passEnv,
  linger,
});

/** The variables of a known program, also when a person gives its command line. */
async function variablesOf(name: string): Promise<readonly string[]> {
  return (
    (await Object.values(runners)
      .find((row) => row.program === name)
      ?.variables?.()) ?? []
  );
}

/** Opens the runner that carries out a task. */
export function openRunner(name: TaskRunner, parts: RunnerParts): Promise<Runner> {
  return isAcp(name) ? runners.acp.open(parts, name.slice(ACP.length)) : runners[name].open(parts, "");
}
