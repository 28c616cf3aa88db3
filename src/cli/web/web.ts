import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { portNumber } from "../base/flags.ts";

/** The command `subcrew web`. */
export const webCommand: CliCommand = {
  description:
    "Serves a page for all runs on this machine: open questions, every run with its tasks, transcripts, diffs and costs, and a form to start new runs. Only this machine can reach the page, and only with the link that is printed.",
  options: [
    new Option("--open", "open the page in your browser"),
    new Option("--port <n>", "the port to listen on (default: the port of last time, or a free one)").argParser(
      portNumber,
    ),
    new Option("--share-readonly", "also print a read-only link for other people"),
    new Option("--cwd <folder>", "the project whose agents are listed and where new runs start (default: this folder)"),
  ],
  examples: [
    ["subcrew web --open", "open the page"],
    ["subcrew web --port 7070 --share-readonly", "a port of your own, and a second, read-only link"],
  ],
  notes:
    "Runs that are started from the page are background runs: they continue when the page and this command end.\nThe link works once. Run `subcrew web` again for another link, also while the page is being served: it opens the page with the folder of that command as its project; a read-only link keeps the first folder.",
  act: async (_, flags) => (await import("./serve-web.ts")).serveWeb(flags),
};
