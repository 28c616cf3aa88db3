import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Option } from "commander";
import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { shellWord } from "../../core/text/shell-word.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { commaList, type Flags, jsonOption } from "../base/flags.ts";
import { variablesToPass } from "../base/host-variables.ts";
import { homes } from "../base/home.ts";
import { checkModelName } from "../../models/registry/model-name.ts";
import type { Host } from "./hosts.ts";
import type { Survey } from "./survey.ts";

/** The command `subcrew init`. */
export const init: CliCommand = {
  description:
    "Sets up subcrew: finds your agents, keys, local model servers and MCP hosts, writes a settings file and a first agent, and registers subcrew in the hosts you choose.",
  options: [
    new Option("--yes", "do not ask: write the settings and the first agent"),
    new Option("--model <name>", "the default model, as in ollama/llama3.2"),
    new Option("--agent <name>", "the name of the first agent (default: helper)"),
    new Option("--no-agent", "do not create an agent"),
    new Option(
      "--hosts <names>",
      "register subcrew in these MCP hosts, comma-separated; all: in every host found",
    ).argParser(commaList),
    jsonOption(),
  ],
  examples: [
    ["subcrew init", "show what was found and ask before each step"],
    ["subcrew init --yes", "for scripts: no questions, no changes to other programs"],
    ["subcrew init --yes --no-agent --hosts claude-code", "also register in Claude Code"],
  ],
  notes:
    "Nothing that exists is overwritten. Without --hosts, `--yes` changes no settings of other programs.\nServers are asked for their list of models; no prompt is sent.",
  act: async (_, flags) => {
    const [{ crewFor }, { survey }, { terminal }] = await Promise.all([
      import("../launch/start.ts"),
      import("./survey.ts"),
      import("../base/terminal.ts"),
    ]);
    const crew = await crewFor({});
    const found = await survey(crew, new AbortController().signal);
    if (flags.model !== undefined) checkModelName(flags.model, await crew.models());
    const hosts = wantedHosts(found.hosts, flags.hosts);
    const isAsked = !flags.yes && !flags.json && terminal(flags).attended;
    if (!flags.json) process.stdout.write(foundText(found, offered(found, flags.model)));
    if (!isAsked && !flags.yes) {
      if (flags.json) process.stdout.write(`${jsonText({ found, done: [] }, 2)}\n`);
      else
        process.stderr.write(
          "Nothing was changed: the confirmation needs a terminal. Add --yes to confirm without one.\n",
        );
      return flags.json ? 0 : 2;
    }
    const agree = isAsked
      ? (await import("../terminal/confirm.ts")).askYes
      : (): Promise<boolean> => Promise.resolve(true);
    const done = [
      ...(await settings(found, flags, agree)),
      ...(await firstAgent(flags, agree)),
      ...(await registrations(found.hosts, { hosts, isAsked, agree })),
    ];
    if (flags.json) process.stdout.write(`${jsonText({ found, done }, 2)}\n`);
    else process.stdout.write(`\n${done.map(({ text }) => `${terminalLine(text)}\n`).join("")}\n${nextSteps(flags)}`);
    return done.some(({ failed }) => failed) ? 1 : 0;
  },
};

/** One completed step of `init`: a description, and the file it changed. */
type Step = Readonly<{ about: "settings" | "agent" | "host"; text: string; file?: string; failed?: true }>;
type Agree = (question: string) => Promise<boolean>;

/**
 * The model to propose as the default: the given model, or a model of a local server when no key works and no default
 * is set.
 */
function offered({ keys, servers, configured }: Survey, named: string | undefined): string | undefined {
  if (named !== undefined) return named;
  if (configured !== undefined || keys.some(({ accepted }) => accepted)) return undefined;
  const server = servers.find(({ suggested }) => suggested !== undefined);
  return server && `${server.provider}/${server.suggested!}`;
}

async function settings(found: Survey, flags: Flags, agree: Agree): Promise<Step[]> {
  const { readConfigFile, userConfigFile, writeSettings } = await import("../base/config-file.ts");
  const file = userConfigFile();
  const about = "settings";
  const model = offered(found, flags.model);
  if (model !== undefined) {
    if (flags.model === undefined && !(await agree(`Use ${model} as the default model?`)))
      return [{ about, text: "The default model stays as it is." }];
    await writeSettings(readConfigFile(file), [[["model"], model]]);
    return [{ about, file, text: `Settings: ${file} (model: ${model})` }];
  }
  if (existsSync(file)) return [{ about, file, text: `Settings: ${file} (kept as it is)` }];
  if (!(await agree(`Write ${file}?`))) return [];
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, STARTER, { flag: "wx", mode: 0o600 });
  return [{ about, file, text: `Settings: ${file}` }];
}

const STARTER = `# Settings of subcrew. \`subcrew config list\` shows every setting; \`subcrew config set KEY VALUE\` changes one.

# model: ollama/llama3.2
# limits:
#   maxTurns: 100
`;

async function firstAgent(flags: Flags, agree: Agree): Promise<Step[]> {
  if ((flags.agent as string | boolean | undefined) === false) return [];
  const name = flags.agent ?? "helper";
  const { checkAgentName, fileOfAgent, template } = await import("../agents/new.ts");
  checkAgentName(name);
  const file = fileOfAgent(homes().home, name);
  const about = "agent";
  if (existsSync(file)) return [{ about, file, text: `Agent: ${file} (kept as it is)` }];
  if (!(await agree(`Make a first agent "${name}" in ${file}?`))) return [];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, template(name), { flag: "wx" });
  return [{ about, file, text: `Agent: ${file}` }];
}

async function registrations(
  all: readonly Host[],
  { hosts, isAsked, agree }: Readonly<{ hosts: readonly Host[] | undefined; isAsked: boolean; agree: Agree }>,
): Promise<Step[]> {
  const [{ registerHost }, { serverCommand }] = await Promise.all([import("./register-host.ts"), import("./hosts.ts")]);
  const steps: Step[] = [];
  for (const host of hosts ?? (isAsked ? all.filter(({ registered }) => !registered) : [])) {
    if (host.registered) {
      steps.push({ about: "host", text: `${host.name}: subcrew is already registered` });
      continue;
    }
    if (hosts === undefined && !(await agree(`Register subcrew in ${host.name} (~/${host.file})?`))) continue;
    const done = await registerHost(host, homes().home, serverCommand(), variablesToPass(process.env));
    steps.push(
      "problem" in done
        ? {
            about: "host",
            failed: true,
            text: `${host.name}: not registered: ${done.problem}. \`subcrew mcp --setup ${host.name}\` prints the lines.`,
          }
        : { about: "host", file: done.file, text: `${host.name}: registered in ${done.file}` },
    );
  }
  return steps;
}

/** The hosts that --hosts names; `undefined` when it is not given. */
function wantedHosts(found: readonly Host[], names: readonly string[] | undefined): readonly Host[] | undefined {
  if (names === undefined) return undefined;
  if (names.includes("all")) return found;
  return names.map((name) => {
    const host = found.find((each) => each.name === name);
    if (host) return host;
    throw new CrewError(
      "BAD_INPUT",
      `The MCP host "${name}" was not found here.`,
      suggestion(
        name,
        found.map((each) => each.name),
        "Hosts found",
      ),
    );
  });
}

function foundText({ agents, keys, servers, hosts, model = "offline" }: Survey, wanted: string | undefined): string {
  const now =
    model === "offline" ? "offline: the built-in model, which searches and quotes but does not reason" : model;
  const origins = Object.entries(agents).map(([origin, count]) => `${count} ${origin}`);
  const lines = [
    ["Agents", origins.join(", ")],
    ...(keys.length === 0
      ? [["Keys", "none (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...)"]]
      : keys.map(({ provider, because, accepted, why }) => [
          "Key",
          `${provider}: ${because}, ${accepted ? "accepted" : why}`,
        ])),
    ...(servers.length === 0
      ? [["Servers", "no local model server answers (Ollama, LM Studio, vLLM)"]]
      : servers.map(({ provider, address, models }) => [
          "Server",
          `${provider} at ${address}: ${models.slice(0, 3).join(", ")}${models.length > 3 ? `, ${models.length - 3} more` : ""}`,
        ])),
    ...(hosts.length === 0
      ? [["Hosts", "no MCP host found"]]
      : hosts.map(({ name, registered }) => ["Host", `${name}${registered ? ", subcrew is registered" : ""}`])),
    ["Model", wanted === undefined ? now : `${wanted} can be the default (until now: ${model})`],
  ];
  return lines.map(([title = "", text = ""]) => `${title.padEnd(8)} ${terminalLine(text)}\n`).join("");
}

function nextSteps({ agent }: Flags): string {
  const name = (agent as string | boolean | undefined) === false ? "explore" : (agent ?? "helper");
  return [
    "Next:",
    `  subcrew run ${shellWord(name)} "What is in this folder?"`,
    "  subcrew doctor                    # checks keys, models and the sandbox",
    "  subcrew agents                    # every agent that can run",
    "",
  ].join("\n");
}
