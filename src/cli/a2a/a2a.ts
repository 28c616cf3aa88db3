import { Option } from "commander";
import type { CliCommand } from "../base/command.ts";
import { commaList, jsonOption, portNumber, runningOptions } from "../base/flags.ts";
import { permissionOptions } from "../base/permission-flags.ts";

const SERVE = "Serving:";
const kept: ReadonlySet<string> = new Set(["--cwd", "--trust", "--unattended", "--answer-timeout"]);

/** The command `subcrew a2a`. */
export const a2a: CliCommand = {
  description:
    "Offers agents to other programs over the A2A protocol (1.0 and 0.3), until it is stopped. Only the agents you name are offered.",
  options: [
    ...[
      new Option(
        "--agents <names>",
        "agents to offer, comma-separated; the first also answers at the root address",
      ).argParser(commaList),
      new Option("--all", "offer every agent"),
      new Option("--port <n>", "the port (default: a free one)").argParser(portNumber),
      new Option("--host <name>", "address to listen on (default: this machine only)"),
      new Option("--url <address>", "public address of the server, e.g. behind a proxy"),
      new Option(
        "--token-file <file>",
        "file with a name and a token of a client per line; created if it does not exist",
      ),
      new Option("--public-cards", "agent cards can be read without a token"),
    ].map((option) => option.helpGroup(SERVE)),
    ...runningOptions().filter(({ long }) => kept.has(long ?? "")),
    ...permissionOptions(),
    jsonOption(),
  ],
  examples: [
    ["subcrew a2a --agents explore", "one agent, for programs on this machine"],
    [
      "subcrew a2a --agents explore,review --port 7710 --token-file ~/.subcrew/a2a-tokens",
      "the same address and token each time",
    ],
  ],
  notes: `Each task is an ordinary run: \`subcrew ps\` lists it, \`subcrew inbox\` answers its questions. What an agent asks
goes to the sender of the task; permissions are only yours to give. Commands run in a sandbox or not at all,
unless --sandbox says otherwise. Tasks that were running when the server stopped
continue when it is started again. See docs/a2a.md.`,
  act: async (_, flags) => (await import("./a2a-serve.ts")).serveA2aCommand(flags),
};
