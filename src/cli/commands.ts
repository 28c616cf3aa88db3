import type { CommandDefinition } from "./command.ts";

/** A command as the overview knows it; the rest of it is loaded when somebody uses it. */
export type CommandRow = Readonly<{ summary: string; group: string; load(): Promise<CommandDefinition> }>;

const WORK = "Work:";
const LOOK = "Look:";

/** Every command, in the order in which help lists them. */
export const commands: Readonly<Record<string, CommandRow>> = {
  run: {
    summary: "one agent, one task; or a plan from a file",
    group: WORK,
    load: async () => (await import("./run.ts")).run,
  },
  parallel: {
    summary: "several tasks side by side",
    group: WORK,
    load: async () => (await import("./parallel.ts")).parallel,
  },
  chain: {
    summary: "one task after the other, each with the result before it",
    group: WORK,
    load: async () => (await import("./chain.ts")).chain,
  },
  race: {
    summary: "the same task for several; the first good answer wins",
    group: WORK,
    load: async () => (await import("./race.ts")).race,
  },
  team: {
    summary: "roles, tasks that depend on each other, reviews, approvals",
    group: WORK,
    load: async () => (await import("./team.ts")).team,
  },
  resume: {
    summary: "go on with a run that was stopped, or show its result again",
    group: WORK,
    load: async () => (await import("./resume.ts")).resume,
  },
  plan: {
    summary: "print what a command line compiles to, and run nothing",
    group: LOOK,
    load: async () => (await import("./plan.ts")).plan,
  },
  agents: { summary: "the agents there are", group: LOOK, load: async () => (await import("./agents.ts")).agents },
  models: {
    summary: "what model names mean here, and which keys were found",
    group: LOOK,
    load: async () => (await import("./models.ts")).models,
  },
  runs: {
    summary: "the runs that were kept, newest first",
    group: LOOK,
    load: async () => (await import("./runs.ts")).runs,
  },
};
