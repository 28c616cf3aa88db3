import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { commaList, count, jsonOption, outputOptions, runningOptions, spanOf } from "../base/flags.ts";
import { permissionOptions } from "../base/permission-flags.ts";

/** `subcrew worker`: executes tasks of an engine. */
export const workerCommand: CliCommand = {
  description:
    "Runs tasks of an engine with the keys, tools and permissions of this machine. Ctrl-C or SIGTERM finishes the tasks or returns them to the queue.",
  options: [
    ...[
      new Option("--slots <n>", "how many tasks run at once (default: 8)").argParser(count("--slots")),
      new Option(
        "--workspaces <folders>",
        "folders whose tasks the worker takes, comma-separated (default: this folder)",
      ).argParser(commaList),
      new Option("--scratch", "also take tasks of other folders, each in an empty folder of its own"),
      new Option(
        "--fetch",
        "also take tasks of git repositories without a clone on this machine; their files come from the run's machine",
      ),
      new Option("--shared", "the worker's folders are shared with other machines (a network file system)"),
      new Option("--poll <duration>", "interval between requests for tasks (default: 100ms)").argParser(
        spanOf("--poll", "100ms"),
      ),
      new Option(
        "--grace <duration>",
        "grace period for running tasks when the worker is told to stop (default: 30s)",
      ).argParser(spanOf("--grace", "30s")),
      new Option("--no-coordinate", "do not take over runs whose process has died"),
    ].map((option) => option.helpGroup("Work:")),
    ...runningOptions().filter(({ long }) => long === "--cwd" || long === "--trust"),
    ...permissionOptions(),
    jsonOption(),
    ...outputOptions().filter(({ long }) => long === "--no-color" || long === "--quiet"),
  ],
  examples: [
    ["subcrew worker --engine postgres://...", "execute the tasks of this folder"],
    ["subcrew worker --engine postgres://... --slots 32 --scratch", "execute tasks that need no files"],
  ],
  notes: "docs/scale-out.md describes what workers do and how to deploy them.",
  act: async (_, flags) => (await import("./serve-worker.ts")).serveWorker(flags),
};
