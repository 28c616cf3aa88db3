import type { CliCommand } from "./base/command.ts";

/** Name and summary of a command, for the overview. Its code is loaded when the command is used. */
export type CommandRow = Readonly<{
  summary: string;
  group: string;
  /** True for a command that only programs call. Help does not list it. */
  hidden?: true;
  /** Imports the command. `line` is the whole command line. */
  load(line?: readonly string[]): Promise<CliCommand>;
}>;

const WORK = "Work:";
const LOOK = "Look:";
const CHANGE = "Change:";
const RUNS = "Runs:";
const SERVE = "Serve:";
const SETUP = "Set up:";

/** Every command, in the order in which help lists them. */
export const commands: Readonly<Record<string, CommandRow>> = {
  chat: {
    summary: "chat with a main agent that delegates to the others",
    group: WORK,
    load: async () => (await import("./chat/chat.ts")).chatCommand,
  },
  ask: {
    summary: "ask the main agent one question",
    group: WORK,
    load: async () => (await import("./chat/ask.ts")).askCommand,
  },
  run: {
    summary: "run one agent on one task, or a plan from a file",
    group: WORK,
    load: async () => (await import("./launch/run.ts")).run,
  },
  parallel: {
    summary: "run several tasks in parallel",
    group: WORK,
    load: async () => (await import("./launch/parallel.ts")).parallelCommand,
  },
  chain: {
    summary: "run tasks one after the other, each with the result of the task before it",
    group: WORK,
    load: async () => (await import("./launch/chain.ts")).chainCommand,
  },
  race: {
    summary: "give several agents the same task; the first good answer wins",
    group: WORK,
    load: async () => (await import("./launch/race.ts")).raceCommand,
  },
  team: {
    summary: "run a team: roles, dependencies, reviews, approvals",
    group: WORK,
    load: async () => (await import("./launch/team.ts")).teamCommand,
  },
  skill: { summary: "run a skill", group: WORK, load: async () => (await import("./launch/skill.ts")).skillCommand },
  command: {
    summary: "run a workflow command",
    group: WORK,
    load: async () => (await import("./launch/skill.ts")).commandCommand,
  },
  resume: {
    summary: "resume a stopped run, or print its result again",
    group: WORK,
    load: async () => (await import("./launch/resume.ts")).resumeCommand,
  },
  plan: {
    summary: "print the plan of a command line without running it",
    group: LOOK,
    load: async () => (await import("./launch/plan.ts")).planCommand,
  },
  agents: {
    summary: "list the agents",
    group: LOOK,
    load: async () => (await import("./agents/agents.ts")).agents,
  },
  skills: {
    summary: "list the skills",
    group: LOOK,
    load: async () => (await import("./agents/skills.ts")).skillsCommand,
  },
  commands: {
    summary: "list the workflow commands",
    group: LOOK,
    load: async () => (await import("./agents/skills.ts")).commandsCommand,
  },
  models: {
    summary: "show which model each name stands for, and which keys were found",
    group: LOOK,
    load: async () => (await import("./agents/models.ts")).models,
  },
  runs: {
    summary: "list stored runs, newest first",
    group: LOOK,
    load: async () => (await import("./runs/runs.ts")).runs,
  },
  top: {
    summary: "show all runs on one screen: runs that need you, failed, work or wait",
    group: RUNS,
    load: async () => (await import("./top/top.ts")).topCommand,
  },
  web: {
    summary: "show all runs on a page in the browser",
    group: RUNS,
    load: async () => (await import("./web/web.ts")).webCommand,
  },
  watch: {
    summary: "show the tasks of one run on the same screen",
    group: RUNS,
    load: async () => (await import("./top/top.ts")).watchCommand,
  },
  ps: {
    summary: "list the runs that are working, waiting or interrupted",
    group: RUNS,
    load: async () => (await import("./runs/ps.ts")).ps,
  },
  status: {
    summary: "show a run's progress and the next command",
    group: RUNS,
    load: async () => (await import("./runs/status.ts")).status,
  },
  show: {
    summary: "read what a run did: prompts, answers, tool calls, cost",
    group: RUNS,
    load: async () => (await import("./runs/show.ts")).showCommand,
  },
  logs: { summary: "print the events of a run", group: RUNS, load: async () => (await import("./runs/logs.ts")).logs },
  wait: { summary: "wait until runs have ended", group: RUNS, load: async () => (await import("./runs/wait.ts")).wait },
  result: {
    summary: "print the result of a run",
    group: RUNS,
    load: async () => (await import("./runs/result.ts")).result,
  },
  diff: {
    summary: "show which files a run changed, and how",
    group: RUNS,
    load: async () => (await import("./changes/diff.ts")).diffCommand,
  },
  undo: {
    summary: "restore the files that a run changed",
    group: RUNS,
    load: async () => (await import("./changes/undo.ts")).undoCommand,
  },
  apply: {
    summary: "apply changes that a task in a worktree kept as a patch",
    group: RUNS,
    load: async () => (await import("./changes/apply.ts")).apply,
  },
  attach: {
    summary: "follow a run that runs in another process and answer its questions",
    group: RUNS,
    load: async () => (await import("./runs/attach.ts")).attach,
  },
  inbox: {
    summary: "list and answer the questions of runs",
    group: RUNS,
    load: async () => (await import("./runs/inbox.ts")).inbox,
  },
  send: {
    summary: "send a message to a running task",
    group: RUNS,
    load: async () => (await import("./runs/send.ts")).send,
  },
  grow: {
    summary: "add tasks to a run while it runs",
    group: RUNS,
    load: async () => (await import("./runs/grow.ts")).growCommand,
  },
  stop: { summary: "pause a run", group: RUNS, load: async () => (await import("./runs/stop.ts")).stop },
  cancel: {
    summary: "end a run or a task for good",
    group: RUNS,
    load: async () => (await import("./runs/cancel.ts")).cancel,
  },
  kill: {
    summary: "kill the process of a run",
    group: RUNS,
    load: async () => (await import("./runs/kill.ts")).kill,
  },
  replay: {
    summary: "play back a recorded run",
    group: RUNS,
    load: async () => (await import("./runs/replay.ts")).replay,
  },
  rm: { summary: "delete runs", group: RUNS, load: async () => (await import("./runs/rm.ts")).rm },
  gc: {
    summary: "delete old runs, or the oldest when they use too much space",
    group: RUNS,
    load: async () => (await import("./runs/gc.ts")).gc,
  },
  "background-run": {
    summary: "",
    group: RUNS,
    hidden: true,
    load: async () => (await import("./launch/background-run.ts")).backgroundRun,
  },
  mcp: {
    summary: "serve the agents to other programs over MCP, and manage MCP servers",
    group: SERVE,
    load: async (line) => (await import("./mcp/greeted.ts")).greetedMcp(line),
  },
  acp: {
    summary: "serve as an agent for editors that support the Agent Client Protocol",
    group: SERVE,
    load: async () => (await import("./chat/acp.ts")).acpCommand,
  },
  a2a: {
    summary: "offer agents to other programs over the A2A protocol",
    group: SERVE,
    load: async () => (await import("./a2a/a2a.ts")).a2a,
  },
  init: {
    summary: "set up subcrew: settings, a first agent, hosts",
    group: SETUP,
    load: async () => (await import("./setup/init.ts")).init,
  },
  doctor: {
    summary: "check whether everything works here, and suggest fixes",
    group: SETUP,
    load: async () => (await import("./setup/doctor.ts")).doctor,
  },
  worker: {
    summary: "run a worker: execute tasks of an engine on this machine",
    group: SERVE,
    load: async () => (await import("./engine/worker.ts")).workerCommand,
  },
  engine: {
    summary: "start, migrate, inspect and drain an engine (database) for workers on many machines",
    group: SERVE,
    load: async () => (await import("./engine/engine.ts")).engineCommand,
  },
  permissions: {
    summary: "list and remove permission rules that you approved",
    group: SETUP,
    load: async () => (await import("./setup/permissions.ts")).permissionsCommand,
  },
  config: {
    summary: "show and change settings",
    group: SETUP,
    load: async () => (await import("./setup/config.ts")).configCommand,
  },
  completion: {
    summary: "print shell completion for bash, zsh and fish",
    group: SETUP,
    load: async () => (await import("./setup/completion.ts")).completion,
  },
  complete: {
    summary: "",
    group: SETUP,
    hidden: true,
    load: async () => (await import("./setup/completion.ts")).completeIn(commands),
  },
  trust: {
    summary: "trust or distrust the agents of this project",
    group: CHANGE,
    load: async () => (await import("./trust/trust.ts")).trust,
  },
};
