import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { count, jsonOption, outputOptions, portNumber } from "../base/flags.ts";

const plain = (): Option[] => [jsonOption(), ...outputOptions().filter(({ long }) => long === "--no-color")];

/** `subcrew engine`: manages the database that runs on several machines share. */
export const engineCommand: CliCommand = {
  description: "Manages an engine: a Postgres database that stores runs and hands their tasks to workers.",
  options: [],
  examples: [
    ["subcrew engine dev", "start a Postgres on this machine, with its tables, and print its address"],
    ["subcrew engine status --engine postgres://...", "its schema, processes, runs and waiting tasks"],
  ],
  notes: "docs/scale-out.md describes how to run workers on many machines.",
  commands: {
    dev: {
      description:
        "Starts a Postgres on this machine (an installed one, else one from an npm package), creates the tables and prints the address. Ctrl-C stops it.",
      options: [
        new Option("--data <folder>", "where it keeps its data (default: a folder of subcrew)"),
        new Option("--port <n>", "its port on 127.0.0.1 (default: the last one, or a free one)").argParser(portNumber),
        ...plain(),
      ],
      examples: [
        ["subcrew engine dev", "then, in another terminal: subcrew worker --engine URL"],
        ["subcrew engine dev --json", "the address for a program, on the first line"],
      ],
      act: async (_, flags) => (await import("./dev.ts")).serveDatabase(flags),
    },
    migrate: {
      description:
        "Creates the tables of the engine, or brings them up to date, and the roles subcrew_worker, subcrew_coordinator and subcrew_reader. Only adds, so workers can go on meanwhile. An administrator makes the logins: create role NAME login password '...' in role subcrew_worker.",
      options: plain(),
      examples: [["subcrew engine migrate --engine postgres://...", "once per database and new version"]],
      act: async (_, flags) => (await import("./migrate.ts")).migrateEngine(flags),
    },
    status: {
      description: "Shows the schema, the processes, the runs and the tasks of an engine.",
      options: plain(),
      examples: [["subcrew engine status", "of the engine in the settings"]],
      act: async (_, flags) => (await import("./status.ts")).showEngine(flags),
    },
    limit: {
      description:
        "Sets limits on model requests, shared by all workers: for a provider, for provider/model, or for all models ('*'). Without limits, shows the current ones.",
      words: "[name]",
      usage: "[NAME]",
      options: [
        new Option("--at-once <n>", "requests at the same time").argParser(count("--at-once")),
        new Option("--requests <n>", "requests within any 60 seconds").argParser(count("--requests")),
        new Option("--tokens <n>", "tokens within any 60 seconds, in and out").argParser(count("--tokens")),
        new Option("--off", "remove the limits of the name"),
        ...plain(),
      ],
      examples: [
        ["subcrew engine limit anthropic --at-once 40 --requests 1000", "for all workers together, at once"],
        ["subcrew engine limit '*' --at-once 200", "for all models together"],
        ["subcrew engine limit anthropic --off", "without limits again"],
      ],
      act: async ([name], flags) => (await import("./limit.ts")).limitEngine(name, flags),
    },
    drain: {
      description: "Drains a worker: it takes no new tasks, finishes or hands back its tasks, and exits.",
      words: "<worker>",
      usage: "WORKER",
      options: plain(),
      examples: [["subcrew engine drain build-1.4711", "the beginning of its name is enough"]],
      act: async ([worker = ""], flags) => (await import("./drain.ts")).drainWorker(worker, flags),
    },
  },
};
