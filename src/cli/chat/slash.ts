import { formatCost, formatTokens, tokensText } from "../../core/outcome/usage.ts";
import { contextWindow } from "../../core/model/context-window.ts";
import { changedFiles } from "../../core/run/changed-files.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { nearest } from "../../core/text/nearest.ts";
import { counted } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { CliCommand } from "../base/command.ts";
import type { Flags } from "../base/flags.ts";
import { checkOutputLinks } from "../base/project-links.ts";
import type { Run } from "../../runtime/run/run.ts";
import type { ChatConversation } from "../../crew/conversation.ts";
import type { ChatSurface } from "./surface.ts";

/** The objects that a slash command can use: the conversation, the crew and the terminal. */
export type Slash = Readonly<{
  crew: Crew;
  talk: ChatConversation;
  flags: Flags;
  surface: ChatSurface;
  /** Shows a run in place of the answer to a message. */
  show(shown: Readonly<{ run: Run }>): Promise<void>;
  /** The runs of the answers whose files were restored. */
  undone: Set<string>;
}>;

/** One slash command. `meanwhile` means that it can run while an answer is generated. */
type Row = Readonly<{
  usage: string;
  what: string;
  meanwhile?: true;
  act(words: readonly string[], on: Slash): Promise<boolean | number | void | undefined>;
}>;

/**
 * The slash commands of a conversation. They are for subcrew; the agent does not see them. An `act` that returns
 * `true` ends the conversation.
 */
const table: Readonly<Record<string, Row>> = {
  agents: { usage: "/agents", what: "list the agents", meanwhile: true, act: (_, on) => asCommand(on, "agents", []) },
  "task-status": {
    usage: "/task-status [ID]",
    what: "show the progress of all background tasks, or of one",
    meanwhile: true,
    act: ([id], on) => (id === undefined ? asCommand(on, "ps", []) : asCommand(on, "status", [id])),
  },
  inbox: {
    usage: "/inbox [allow|deny|answer ID ...]",
    what: "list and answer the questions of tasks",
    meanwhile: true,
    act: ([verb, ...words], on) => asCommand(on, "inbox", words, verb),
  },
  model: {
    usage: "/model [NAME]",
    what: "choose the model; without a name, list the models",
    meanwhile: true,
    act: async ([name], on) => {
      if (name === undefined) return asCommand(on, "models", []);
      const { checkModelName } = await import("../../models/registry/model-name.ts");
      checkModelName(name, await on.crew.models()); // an unknown name is an error now, not at the next message
      on.talk.setModel(name);
      on.surface.print(`The model is now ${name}.`);
    },
  },
  resume: {
    usage: "/resume [ID | WORDS]",
    what: "continue the answer that was stopped, or another conversation, named by its run or by words in it; without either, list the conversations",
    act: async (words, on) => {
      const stopped = words.length === 0 ? on.talk.goOn() : undefined;
      if (stopped) return on.show(stopped);
      const { conversationFor, conversationList, eventsOfConversation } = await import("./kept-conversations.ts");
      const found = await conversationFor(on.crew, words.join(" "));
      if ("several" in found)
        return on.surface.print(
          conversationList(found.several, (process.stderr.columns || 80) - 1, on.crew.settings.config),
        );
      on.talk.moveTo(found.run);
      on.surface.recall(await eventsOfConversation(on.crew, found.run));
      on.surface.print(`The next message continues ${found.run}.`);
    },
  },
  cost: {
    usage: "/cost",
    what: "show what this conversation has cost",
    meanwhile: true,
    act: async (_, { talk, surface }) => {
      const { usage, cost, messages } = talk.spent();
      const tokens = tokensText(usage.input + usage.output + usage.cacheRead + usage.cacheWrite);
      surface.print(`${counted(messages, "message")}, ${counted(usage.turns, "turn")}, ${tokens}, ${formatCost(cost)}`);
    },
  },
  diff: {
    usage: "/diff",
    what: "show the files that the last answer changed",
    act: (_, on) => aboutLast(on, "diff"),
  },
  undo: {
    usage: "/undo",
    what: "restore the files that the last answer changed; a second time: those of the answer before",
    act: (_, on) => undoLast(on),
  },
  context: {
    usage: "/context",
    what: "show how much of the model's context window this conversation fills",
    meanwhile: true,
    act: async (_, { surface, talk }) => surface.print(contextText(talk)),
  },
  compact: {
    usage: "/compact",
    what: "summarise the conversation and continue from the summary",
    act: async (_, { talk, surface, show }) => {
      if (talk.last() === undefined) return surface.print("Nothing to summarise yet.");
      const said = await talk.say(COMPACT);
      await show(said);
      const { outcome } = said.run.state;
      const summary = outcome && "output" in outcome ? (outcome.output ?? "") : "";
      if (outcome?.status !== "ok" || summary.trim() === "")
        return surface.print("The conversation was not summarised and stays as it is.");
      talk.compactTo(summary);
      surface.print("The next message starts with this summary instead of the whole conversation.");
    },
  },
  mcp: {
    usage: "/mcp [SERVER]",
    what: "list your MCP servers, or the prompts of one server; /mcp__SERVER__PROMPT [ARGUMENTS] sends a prompt",
    act: ([server], on) => showPrompts(server, on),
  },
  permissions: {
    usage: "/permissions [remove N]",
    what: "list the approved rules of this project, or remove one",
    meanwhile: true,
    act: async ([verb, ...words], { crew, surface }) => {
      const { approvedRules, removeRule, rulesText } = await import("../setup/permissions.ts");
      if (verb === "remove") return surface.print(await removeRule(words.join(" "), crew.cwd));
      surface.print(rulesText(await approvedRules(crew.cwd)));
    },
  },
  export: {
    usage: "/export [FILE]",
    what: "write this conversation to a Markdown file",
    act: async ([file = "conversation.md"], { surface }) => {
      const [{ transcriptMarkdown }, { transcriptsOf }, { writeFile }] = await Promise.all([
        import("../../sinks/transcript/markdown.ts"),
        import("../../core/view/transcript.ts"),
        import("node:fs/promises"),
      ]);
      const text = transcriptMarkdown("Conversation", transcriptsOf(surface.events()));
      checkOutputLinks(file);
      try {
        await writeFile(file, text, { flag: "wx" });
      } catch (error) {
        throw new CrewError(
          "BAD_INPUT",
          `"${file}" cannot be written: ${messageOf(error)}.`,
          "Name another file: /export FILE.",
        );
      }
      surface.print(`Wrote ${file}.`);
    },
  },
  clear: {
    usage: "/clear",
    what: "begin a new conversation",
    act: async (_, { talk, surface }) => {
      talk.moveTo(undefined);
      surface.recall([]);
      surface.print("The next message starts a new conversation.");
    },
  },
  help: {
    usage: "/help",
    what: "show this list, and the keys",
    meanwhile: true,
    act: async (_, { surface }) => surface.print(helpText()),
  },
  exit: { usage: "/exit", what: "leave; Ctrl-D does the same", act: async () => true },
};

/** The prompt that asks the model to summarise the conversation. */
const COMPACT =
  "Summarise our conversation so that you can continue it from the summary alone: what I want, what was found and decided, which files were read or changed, and what is left to do. Answer with the summary only.";

/** Aliases of slash commands. */
const aliases: Readonly<Record<string, string>> = { new: "clear", quit: "exit" };

/** Completions for text that begins with a slash. Prompts of MCP servers are added once they were listed. */
const names = Object.keys(table).map((name) => `/${name}`);
export const slashNames: readonly string[] = names;

/** True for a slash command that can run while an answer is generated. */
export function isDoneMeanwhile(line: string): boolean {
  const name = /^\/(\S+)/.exec(line)?.[1] ?? "";
  return Object.hasOwn(table, name) && table[name]!.meanwhile === true;
}

/** Runs a slash command. Returns true when the conversation should end. */
export async function runSlashCommand(line: string, on: Slash): Promise<boolean> {
  const [name = "", ...words] = line.slice(1).trim().split(/\s+/);
  const known = Object.hasOwn(aliases, name) ? aliases[name]! : name;
  const row = Object.hasOwn(table, known) ? table[known] : undefined;
  if (!row && name.startsWith("mcp__")) return sendPrompt(name, words, on);
  if (!row) {
    const near = nearest(name, Object.keys(table));
    throw new CrewError(
      "BAD_INPUT",
      `Unknown command "/${name}".`,
      near === undefined ? "See /help." : `Did you mean /${near}? See /help.`,
    );
  }
  return (await row.act(words, on)) === true;
}

/** Lists the MCP servers, or the prompts of one server, which is started for that. */
async function showPrompts(server: string | undefined, { crew, surface }: Slash): Promise<void> {
  const servers = Object.keys(crew.settings.config.mcpServers ?? {});
  if (server === undefined)
    return surface.print(
      servers.length === 0
        ? "No MCP servers are configured. `subcrew mcp import` imports those of other programs."
        : `${servers.join("\n")}\n/mcp SERVER lists the prompts of a server.`,
    );
  const { serverPrompts } = await import("../mcp/prompts.ts");
  const prompts = await serverPrompts(server, crew);
  for (const { command } of prompts) if (!names.includes(command)) names.push(command);
  const lines = prompts.map(({ command, about, wants }) => {
    const wanted = wants.map(({ name, required }) => (required ? ` ${name}` : ` [${name}]`)).join("");
    return `${command}${wanted}${about === "" ? "" : `  ${about}`}`;
  });
  surface.print(lines.length === 0 ? `${server} offers no prompts.` : lines.join("\n"));
}

/** Sends a prompt of an MCP server as a message. */
async function sendPrompt(name: string, words: readonly string[], { crew, talk, show }: Slash): Promise<boolean> {
  const { promptIn, serverPromptText } = await import("../mcp/prompts.ts");
  const wanted = promptIn(name);
  if (!wanted)
    throw new CrewError(
      "BAD_INPUT",
      `"/${name}" is not an MCP prompt.`,
      "Write /mcp__SERVER__PROMPT; /mcp SERVER lists the prompts.",
    );
  await show(await talk.say(await serverPromptText(wanted, words, crew)));
  return false;
}

/** Slash commands that run the `subcrew` command of the same name. */
const same = {
  agents: async () => (await import("../agents/agents.ts")).agents,
  inbox: async () => (await import("../runs/inbox.ts")).inbox,
  diff: async () => (await import("../changes/diff.ts")).diffCommand,
  undo: async () => (await import("../changes/undo.ts")).undoCommand,
  models: async () => (await import("../agents/models.ts")).models,
  ps: async () => (await import("../runs/ps.ts")).ps,
  status: async () => (await import("../runs/status.ts")).status,
} satisfies Readonly<Record<string, () => Promise<CliCommand>>>;

async function asCommand(
  { surface }: Slash,
  name: keyof typeof same,
  words: readonly string[],
  inner?: string,
): Promise<number> {
  const whole: CliCommand = await same[name]();
  const part = inner === undefined ? whole : whole.commands?.[inner];
  if (!part?.act)
    throw new CrewError(
      "BAD_INPUT",
      inner === undefined ? `"/${name}" needs a subcommand.` : `"/${name}" has no subcommand "${inner}".`,
      `Subcommands: ${Object.keys(whole.commands ?? {}).join(", ")}.`,
    );
  const act = part.act;
  return (await surface.lend(async () => act(words, { color: true }))) ?? 0;
}

/** Restores the files of the last answer that changed files and was not undone yet. */
async function undoLast(on: Slash): Promise<void> {
  const { talk, surface, undone } = on;
  const last = talk.last();
  if (last === undefined) return surface.print("No answer yet.");
  const events = surface.events();
  const shown = talk.runs().map(({ id }) => id);
  const changing = shown.filter((id) => changedFiles(events.filter(({ run }) => run === id)).files.length > 0);
  const known = shown.length > 0 && events.length > 0 ? changing : [last];
  const run = known.findLast((id) => !undone.has(id));
  if (run === undefined)
    return surface.print(
      changing.length > 0
        ? "Every change of this conversation was undone."
        : "No answer of this conversation changed a file.",
    );
  if ((await asCommand(on, "undo", [run])) === 0) undone.add(run);
}

/** Runs a command on the run of the last answer. */
async function aboutLast(on: Slash, name: "diff"): Promise<void> {
  const last = on.talk.last();
  if (last === undefined) return on.surface.print("No answer yet.");
  await asCommand(on, name, [last]);
}

function helpText(): string {
  const width = Math.max(...Object.values(table).map(({ usage }) => usage.length));
  const commands = Object.values(table).map(({ usage, what }) => `${usage.padEnd(width)}  ${what}`);
  return [...commands, "", ...keys].join("\n");
}

const keys = [
  "@NAME names a file or an agent (Tab completes), !COMMAND runs a command of your own.",
  "Alt-Enter, Ctrl-J or a backslash before Enter: new line. Ctrl-G: write in $EDITOR. Ctrl-R: search earlier messages.",
  "While the agent works: Enter queues a message, Up edits the last one, Ctrl-S sends it now. Esc or Ctrl-C stops the answer.",
  "Ctrl-O: what happened so far; every call and every agent can be opened there.",
];

/** How much of the context window the last turn of the main agent used. */
function contextText(talk: ChatConversation): string {
  const run = talk.runs().at(-1);
  const main = run && [...run.state.nodes.values()].find(({ kind, path }) => kind === "task" && !path.includes("/"));
  if (!main || main.usage.turns === 0) return "Nothing was sent to a model yet.";
  const { input, cacheRead, cacheWrite, output, turns } = main.usage;
  const used = Math.round((input + cacheRead + cacheWrite) / turns) + output;
  const window = contextWindow(main.model ?? "");
  const share = window === undefined ? "" : ` of ${formatTokens(window)} (${Math.round((100 * used) / window)} %)`;
  return `About ${tokensText(used)}${share} on ${main.model ?? "the model"}. /compact makes the conversation shorter.`;
}
