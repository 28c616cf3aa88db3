import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { type Flags, jsonOption } from "../base/flags.ts";

const projectOption = (): Option =>
  new Option("--project", "the project's file (.subcrew/config.yaml) instead of your own");

type Act = (words: readonly string[], flags: Flags) => Promise<number>;

const show =
  (name: "listSettings" | "getSetting" | "printPaths"): Act =>
  async (words, flags) =>
    (await import("./show-config.ts"))[name](words, flags);

const change =
  (name: "setSetting" | "unsetSetting" | "editSettings"): Act =>
  async (words, flags) =>
    (await import("./change-config.ts"))[name](words, flags);

/** The command `subcrew config`. */
export const configCommand: CliCommand = {
  description: "Shows and changes settings. docs/config.md lists every key.",
  words: "[words...]",
  options: [jsonOption()],
  examples: [
    ["subcrew config list", "list the settings in effect and where each was made"],
    ["subcrew config set model anthropic/claude-sonnet-4", "choose the default model"],
  ],
  commands: {
    list: {
      description: "Lists the settings in effect: value and origin (your file, the project's file or a variable).",
      options: [new Option("--all", "also list keys that are not set, with their meaning"), jsonOption()],
      examples: [["subcrew config list --all", "list every key there is"]],
      act: show("listSettings"),
    },
    get: {
      description:
        "Prints one setting, or all settings below a key. Keys and passwords are hidden, unless you name exactly that one.",
      words: "<key>",
      usage: "KEY",
      options: [jsonOption()],
      examples: [["subcrew config get limits", "print the limits"]],
      act: show("getSetting"),
    },
    set: {
      description: "Sets one value. The file keeps its comments; an invalid value changes nothing.",
      words: "<key> <value...>",
      usage: "KEY VALUE",
      options: [projectOption()],
      examples: [
        ["subcrew config set concurrency 4", "run at most four tasks at once"],
        ["subcrew config set agents.explore.model fast", "choose the model of one agent"],
        ["subcrew config set permissions.deny '[\"bash(rm *)\"]'", "set a list"],
      ],
      act: change("setSetting"),
    },
    unset: {
      description: "Removes one setting, so that the default applies again.",
      words: "<key>",
      usage: "KEY",
      options: [projectOption()],
      examples: [["subcrew config unset concurrency", "return to the default"]],
      act: change("unsetSetting"),
    },
    edit: {
      description: "Opens the settings file in $VISUAL or $EDITOR and checks it before it is saved.",
      options: [projectOption()],
      examples: [["subcrew config edit", "edit your own settings"]],
      act: change("editSettings"),
    },
    path: {
      description: "Prints the paths of the settings files.",
      options: [jsonOption()],
      examples: [["subcrew config path", "print where the files are"]],
      act: show("printPaths"),
    },
  },
  act: async ([word], flags) => {
    if (word === undefined) return show("listSettings")([], flags);
    const { unknownCommand } = await import("../base/usage.ts");
    throw unknownCommand(word, Object.keys(configCommand.commands ?? {}), "subcrew config");
  },
};
