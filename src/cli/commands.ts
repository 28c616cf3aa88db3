import type { CliCommand } from "./base/command.ts";

/** Name and summary of a command, for the overview. Its code is loaded when the command is used. */
export type CommandRow = Readonly<{
  summary: string;
  group: string;
  /** True: for programs only, and not listed in the help. */
  hidden?: true;
  /** `line`: the command line that it is loaded for. */
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
    summary: "talk with a main agent that hands work to the others",
    group: WORK,
    load: async () => (await import("./chat/chat.ts")).chatCommand,
  },
  ask: {
    summary: "one question to the main agent",
    group: WORK,
    load: async () => (await import("./chat/ask.ts")).askCommand,
  },
  run: {
    summary: "one agent, one task; or a plan from a file",
    group: WORK,
    load: async () => (await import("./launch/run.ts")).run,
  },
  parallel: {
    summary: "several tasks side by side",
    group: WORK,
    load: async () => (await import("./launch/parallel.ts")).parallelCommand,
  },
  chain: {
    summary: "one task after the other, each with the result before it",
    group: WORK,
    load: async () => (await import("./launch/chain.ts")).chainCommand,
  },
  race: {
    summary: "the same task for several; the first good answer wins",
    group: WORK,
    load: async () => (await import("./launch/race.ts")).raceCommand,
  },
  team: {
    summary: "roles, tasks that depend on each other, reviews, approvals",
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
    summary: "print what a command line compiles to, and run nothing",
    group: LOOK,
    load: async () => (await import("./launch/plan.ts")).planCommand,
  },
  agents: {
    summary: "the agents there are",
    group: LOOK,
    load: async () => (await import("./agents/agents.ts")).agents,
  },
  skills: {
    summary: "the skills there are",
    group: LOOK,
    load: async () => (await import("./agents/skills.ts")).skillsCommand,
  },
  commands: {
    summary: "the workflow commands there are",
    group: LOOK,
    load: async () => (await import("./agents/skills.ts")).commandsCommand,
  },
  models: {
    summary: "what model names mean here, and which keys were found",
    group: LOOK,
    load: async () => (await import("./agents/models.ts")).models,
  },
  runs: {
    summary: "the runs that were kept, newest first",
    group: LOOK,
    load: async () => (await import("./runs/runs.ts")).runs,
  },
  top: {
    summary: "one screen for all runs: what needs you, failed, works, waits",
    group: RUNS,
    load: async () => (await import("./top/top.ts")).topCommand,
  },
  web: {
    summary: "one page in the browser for all runs",
    group: RUNS,
    load: async () => (await import("./web/web.ts")).webCommand,
  },
  watch: {
    summary: "the same screen for the tasks of one run",
    group: RUNS,
    load: async () => (await import("./top/top.ts")).watchCommand,
  },
  ps: {
    summary: "the runs that work, wait or were interrupted",
    group: RUNS,
    load: async () => (await import("./runs/ps.ts")).ps,
  },
  status: {
    summary: "how far a run is, and how to go on",
    group: RUNS,
    load: async () => (await import("./runs/status.ts")).status,
  },
  show: {
    summary: "read what a run did: prompts, answers, tool calls, cost",
    group: RUNS,
    load: async () => (await import("./runs/show.ts")).showCommand,
  },
  logs: { summary: "what happened in a run", group: RUNS, load: async () => (await import("./runs/logs.ts")).logs },
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
    summary: "apply changes that a task in a worktree could not",
    group: RUNS,
    load: async () => (await import("./changes/apply.ts")).apply,
  },
  attach: {
    summary: "watch a run of another process, and answer it",
    group: RUNS,
    load: async () => (await import("./runs/attach.ts")).attach,
  },
  inbox: {
    summary: "what runs ask, and your answers",
    group: RUNS,
    load: async () => (await import("./runs/inbox.ts")).inbox,
  },
  send: {
    summary: "say something to a task that is running",
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
    summary: "end the process of a run at once",
    group: RUNS,
    load: async () => (await import("./runs/kill.ts")).kill,
  },
  replay: {
    summary: "show a run again as it was",
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
    summary: "offer the agents to other tools over MCP, and use MCP servers",
    group: SERVE,
    load: async (line) => (await import("./mcp/greeted.ts")).greetedMcp(line),
  },
  acp: {
    summary: "be an agent for editors that speak the Agent Client Protocol",
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
    summary: "check whether everything works here, with fixes",
    group: SETUP,
    load: async () => (await import("./setup/doctor.ts")).doctor,
  },
  worker: {
    summary: "take tasks of an engine on this machine",
    group: SERVE,
    load: async () => (await import("./engine/worker.ts")).workerCommand,
  },
  engine: {
    summary: "an engine for many machines: start, migrate, look at, drain",
    group: SERVE,
    load: async () => (await import("./engine/engine.ts")).engineCommand,
  },
  permissions: {
    summary: "rules that you approved for this project; remove them",
    group: SETUP,
    load: async () => (await import("./setup/permissions.ts")).permissionsCommand,
  },
  config: {
    summary: "show and change settings",
    group: SETUP,
    load: async () => (await import("./setup/config.ts")).configCommand,
  },
  completion: {
    summary: "completion for bash, zsh and fish",
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
    summary: "let the agents of this project run, or not",
    group: CHANGE,
    load: async () => (await import("./trust/trust.ts")).trust,
  },
};
