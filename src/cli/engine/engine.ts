import { Option } from "commander";
import { engineWords } from "../../engines/table.ts";
import type { CliCommand } from "../base/command.ts";
import { count, jsonOption, outputOptions, portNumber } from "../base/flags.ts";

const plain = (): Option[] => [jsonOption(), ...outputOptions().filter(({ long }) => long === "--no-color")];

/** `subcrew engine`: manages the database that runs on several machines share. */
export const engineCommand: CliCommand = {
  description: `Manages an engine: ${engineWords("what")} that stores runs and gives their tasks to workers.`,
  options: [],
  examples: [
    ["subcrew engine dev", "start a Postgres database on this machine, with its tables, and print its address"],
    ["subcrew engine status --engine postgres://...", "schema, processes, runs and waiting tasks of the engine"],
  ],
  notes: "docs/scale-out.md describes how to run workers on many machines.",
  commands: {
    dev: {
      description:
        "Starts a Postgres database on this machine (the installed Postgres, else one from an npm package), creates the tables and prints the address. Ctrl-C stops the database.",
      options: [
        new Option("--data <folder>", "folder for the data (default: a folder of subcrew)"),
        new Option("--port <n>", "port on 127.0.0.1 (default: the last one, or a free one)").argParser(portNumber),
        ...plain(),
      ],
      examples: [
        ["subcrew engine dev", "then, in another terminal: subcrew worker --engine URL"],
        ["subcrew engine dev --json", "print the address for a program, on the first line"],
      ],
      act: async (_, flags) => (await import("./dev.ts")).serveDatabase(flags),
    },
    migrate: {
      description:
        "Creates the tables of the engine, or brings them up to date, and the roles subcrew_worker, subcrew_coordinator and subcrew_reader. Only adds tables and columns, so workers can continue meanwhile. An administrator creates the logins: create role NAME login password '...' in role subcrew_worker.",
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
        "Sets limits on model requests, shared by all workers: for a provider, for provider/model, or for all models ('*'). Without limits, shows the current limits.",
      words: "[name]",
      usage: "[NAME]",
      options: [
        new Option("--at-once <n>", "requests at the same time").argParser(count("--at-once")),
        new Option("--requests <n>", "requests within any 60 seconds").argParser(count("--requests")),
        new Option("--tokens <n>", "tokens within any 60 seconds, input and output").argParser(count("--tokens")),
        new Option("--off", "remove the limits of this provider or model"),
        ...plain(),
      ],
      examples: [
        ["subcrew engine limit anthropic --at-once 40 --requests 1000", "for all workers together, at once"],
        ["subcrew engine limit '*' --at-once 200", "for all models together"],
        ["subcrew engine limit anthropic --off", "remove the limits"],
      ],
      act: async ([name], flags) => (await import("./limit.ts")).limitEngine(name, flags),
    },
    drain: {
      description:
        "Drains a worker: the worker takes no new tasks, finishes its tasks or returns them to the queue, and exits.",
      words: "<worker>",
      usage: "WORKER",
      options: plain(),
      examples: [["subcrew engine drain build-1.4711", "the beginning of the worker's name is enough"]],
      act: async ([worker = ""], flags) => (await import("./drain.ts")).drainWorker(worker, flags),
    },
  },
};
