import { Option } from "commander";
import type { GreetedStreams } from "../../mcp/start/greet.ts";
import type { CliCommand } from "../base/command.ts";
import { commaList, jsonOption, outputOptions, portNumber, runningOptions } from "../base/flags.ts";
import { permissionOptions } from "../base/permission-flags.ts";
import { unknownCommand } from "../base/usage.ts";

const SERVE = "Serving:";
const yesOption = (): Option => new Option("--yes", "do not ask for confirmation");
const placeOptions = (): Option[] => [
  ...[...runningOptions(), ...outputOptions()].filter(({ long }) => long === "--cwd" || long === "--no-color"),
  jsonOption(),
];
const kept: ReadonlySet<string> = new Set(["--cwd", "--trust", "--unattended"]);

const parts: NonNullable<CliCommand["commands"]> = {
  list: {
    description: "Lists the MCP servers that agents may use, without starting them.",
    options: [...placeOptions()],
    examples: [["subcrew mcp list --json", "for a program"]],
    act: async (_, flags) => (await import("./list.ts")).listServers(flags),
  },
  import: {
    description:
      "Imports MCP servers from claude, codex, cursor, vscode, gemini or opencode, or from a file, into your settings.",
    words: "[from]",
    usage: "[TOOL|FILE]",
    options: [yesOption(), ...placeOptions()],
    examples: [
      ["subcrew mcp import claude", "the servers in .mcp.json of this folder and in ~/.claude.json"],
      ["subcrew mcp import ./servers.json --yes", "from a file, without being asked"],
    ],
    act: async (words, flags) => (await import("./import.ts")).importServers(words, flags),
  },
  login: {
    description:
      "Logs in to an MCP server at an address, in your browser. Runs use the login and renew it by themselves.",
    words: "[server]",
    usage: "SERVER",
    options: [new Option("--no-browser", "only print the address to open"), ...placeOptions()],
    examples: [
      ["subcrew mcp login sentry", "opens your browser and waits until you have logged in"],
      ["subcrew mcp login sentry --no-browser", "on a machine without a screen"],
    ],
    act: async (words, flags) => (await import("./login.ts")).login(words, flags),
  },
  logout: {
    description: "Logs out of an MCP server: deletes its tokens here and revokes them at the server where possible.",
    words: "[server]",
    usage: "SERVER",
    options: [...placeOptions()],
    examples: [["subcrew mcp logout sentry", "delete the stored tokens"]],
    act: async (words, flags) => (await import("./login.ts")).logout(words, flags),
  },
  trust: {
    description: "Starts an MCP server, shows the tools it offers now, and asks whether these may be used.",
    words: "[server]",
    usage: "SERVER",
    options: [yesOption(), ...placeOptions()],
    examples: [["subcrew mcp trust github", "after its tools have changed"]],
    act: async (words, flags) => (await import("./trust.ts")).trustServer(words, flags),
  },
};

/** `subcrew mcp`: serves over MCP, prints the setup for other programs, and manages the servers that agents use. */
export const mcpCommand = (streams?: GreetedStreams): CliCommand => ({
  description:
    "Offers the agents of this folder to another agent program over MCP, on standard input and output. That program starts this command; the subcommands are for people.",
  words: "[command]",
  usage: "[COMMAND]",
  options: [
    new Option("--setup <tool>", "print the configuration for claude-code, codex, cursor, vscode, gemini or opencode"),
    ...[
      new Option("--as <tools>", "also offer these delegation tools of other programs: Task, parallel, ...").argParser(
        commaList,
      ),
      new Option("--full", "list tools with all their arguments and results: 60 KB instead of 8 KB"),
      new Option("--all-runs", "let clients also see runs that they did not start"),
      new Option("--answer-calls", "let clients answer permission requests of agents; otherwise only a person can"),
      new Option("--http", "serve over HTTP, on this machine only; the address and the token are printed"),
      new Option("--host <name>", "with --http: another address to listen on"),
      new Option("--port <n>", "with --http: the port (default: a free one)").argParser(portNumber),
      new Option("--token-file <file>", "with --http: file that stores the token (default: a new token each time)"),
    ].map((option) => option.helpGroup(SERVE)),
    ...runningOptions().filter(({ long }) => kept.has(long ?? "")),
    ...permissionOptions(),
  ],
  examples: [
    ["subcrew mcp --setup claude-code", "print the configuration for Claude Code"],
    ["subcrew mcp --http --port 7777", "for a client that needs a URL"],
    ["subcrew mcp --as Task", "with the delegation tools that some programs know already"],
  ],
  commands: parts,
  notes: `Runs that a client starts are ordinary runs: \`subcrew ps\` lists them, \`subcrew inbox\` answers their questions,
and \`subcrew resume\` continues those that the client left unfinished.`,
  act: async ([unknown], flags) => {
    if (unknown !== undefined) throw unknownCommand(unknown, Object.keys(parts));
    if (flags.setup !== undefined) return (await import("./setup.ts")).printSetup(flags.setup);
    return (await import("./serve.ts")).serveMcpCommand(flags, streams);
  },
});
