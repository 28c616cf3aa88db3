import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { runOptions } from "../base/flags.ts";
import { imageOption } from "../base/images.ts";
import { mainAgentOption } from "./main-agent.ts";

/** Run flags that `subcrew chat` does not have. */
const elsewhere: ReadonlySet<string> = new Set([
  "--bg",
  "--json",
  "--deltas",
  "--reuse",
  "--record",
  "--replay",
  "--replay-until",
  "--name",
  "--strict",
  "--yes",
  "--retry",
]);

/** The command `subcrew chat`. */
export const chatCommand: CliCommand = {
  description:
    "Chats with a main agent that delegates to the other agents and receives summaries of their results. Every message is a stored run.",
  words: "[message...]",
  usage: '["MESSAGE"]',
  options: [
    mainAgentOption(),
    new Option(
      "--resume [run]",
      "continue an earlier conversation, by its run or words in it; without a value, list the conversations",
    ).helpGroup("Work:"),
    imageOption(),
    new Option(
      "--commands",
      "obey slash commands also in text from a pipe and in the message of the command line, for scripts",
    ).helpGroup("Work:"),
    ...runOptions().filter(({ long }) => !elsewhere.has(long ?? "")),
  ],
  examples: [
    ["subcrew chat", "start a conversation; /help lists the commands"],
    ['subcrew chat "Which tests are slow, and why?"', "begin with a question"],
    ["subcrew chat --resume run_4k2x", "continue where you left off"],
  ],
  notes:
    "Type while the agent works: Enter queues, Ctrl-S sends the message now. Esc or Ctrl-C stops the answer, a second Ctrl-C within two seconds leaves. Without a terminal each line of the input is a message, also one that begins with / or !.",
  act: async (words, flags) => (await import("./converse.ts")).converse(words, flags),
};
