import { formatCost, formatTokens } from "../../core/outcome/usage.ts";
import { CrewError } from "../../core/schema/error.ts";
import { nearest } from "../../core/text/nearest.ts";
import type { Crew } from "../../crew.ts";
import type { CliCommand } from "../base/command.ts";
import type { Flags } from "../base/flags.ts";
import type { ChatConversation } from "../../crew/conversation.ts";

/** What a command of a conversation works with. */
export type Slash = Readonly<{ crew: Crew; talk: ChatConversation; flags: Flags }>;

type Row = Readonly<{ usage: string; what: string; act(words: readonly string[], on: Slash): Promise<boolean | void> }>;

/** What begins with a slash is for the program, not for the agent. An `act` that gives `true` ends the conversation. */
const table: Readonly<Record<string, Row>> = {
  agents: { usage: "/agents", what: "who can be asked", act: () => asCommand("agents", []) },
  "task-status": {
    usage: "/task-status [ID]",
    what: "how far the tasks in the background are, or one of them",
    act: ([id]) => (id === undefined ? asCommand("ps", []) : asCommand("status", [id])),
  },
  inbox: {
    usage: "/inbox [allow|deny|answer ID ...]",
    what: "what tasks ask, and your answers",
    act: ([verb, ...words]) => asCommand("inbox", words, verb),
  },
  model: {
    usage: "/model [NAME]",
    what: "the model that answers from now on; without a name, what there is",
    act: async ([name], { talk }) => {
      if (name === undefined) return asCommand("models", []);
      talk.setModel(name);
      say(`The model is now ${name}.`);
    },
  },
  resume: {
    usage: "/resume [ID]",
    what: "go on with another conversation or task; without an id, what there is",
    act: async ([id], { crew, talk }) => {
      if (id === undefined) return asCommand("runs", []);
      const run = await crew.findRun(id);
      talk.moveTo(run);
      say(`The next message continues ${run}.`);
    },
  },
  cost: {
    usage: "/cost",
    what: "what this conversation has cost",
    act: async (_, { talk }) => {
      const { usage, cost, messages } = talk.spent();
      const tokens = formatTokens(usage.input + usage.output + usage.cacheRead + usage.cacheWrite);
      say(
        `${messages} message${messages === 1 ? "" : "s"}, ${usage.turns} turns, ${tokens} tokens, ${formatCost(cost)}`,
      );
    },
  },
  new: {
    usage: "/new",
    what: "begin a new conversation",
    act: async (_, { talk }) => {
      talk.moveTo(undefined);
      say("The next message starts a new conversation.");
    },
  },
  help: { usage: "/help", what: "this list", act: async () => say(helpText()) },
  exit: { usage: "/exit", what: "leave; Ctrl-D does the same", act: async () => true },
};

/** The words that complete what begins with a slash. */
export const slashNames: readonly string[] = Object.keys(table).map((name) => `/${name}`);

/** Does what a line that begins with a slash says. True: the person wants to leave. */
export async function runSlashCommand(line: string, on: Slash): Promise<boolean> {
  const [name = "", ...words] = line.slice(1).trim().split(/\s+/);
  const row = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!row) {
    const near = nearest(name, Object.keys(table));
    throw new CrewError(
      "BAD_INPUT",
      `There is no command "/${name}".`,
      near === undefined ? "See /help." : `Did you mean /${near}? See /help.`,
    );
  }
  return (await row.act(words, on)) === true;
}

/** The commands that are the same as outside of a conversation. */
const same = {
  agents: async () => (await import("../agents/agents.ts")).agents,
  inbox: async () => (await import("../runs/inbox.ts")).inbox,
  models: async () => (await import("../agents/models.ts")).models,
  ps: async () => (await import("../runs/ps.ts")).ps,
  runs: async () => (await import("../runs/runs.ts")).runs,
  status: async () => (await import("../runs/status.ts")).status,
} satisfies Readonly<Record<string, () => Promise<CliCommand>>>;

async function asCommand(name: keyof typeof same, words: readonly string[], inner?: string): Promise<void> {
  const whole: CliCommand = await same[name]();
  const part = inner === undefined ? whole : whole.commands?.[inner];
  if (!part?.act)
    throw new CrewError(
      "BAD_INPUT",
      `There is no "/${name} ${inner ?? ""}".`,
      `There are: ${Object.keys(whole.commands ?? {}).join(", ")}.`,
    );
  await part.act(words, { color: true });
}

function helpText(): string {
  const width = Math.max(...Object.values(table).map(({ usage }) => usage.length));
  return Object.values(table)
    .map(({ usage, what }) => `${usage.padEnd(width)}  ${what}`)
    .join("\n");
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
