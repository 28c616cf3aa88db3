import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../core/schema/error.ts";
import { describeServer, serverProblem } from "../../core/vocabulary/mcp-server.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { ProviderView } from "../../models/registry/overview.ts";
import { findProgram } from "../../runners/foreign/find-program.ts";
import { InFlight } from "../../runtime/commands/in-flight.ts";
import { probeSandbox } from "../../runtime/commands/probe-sandbox.ts";
import { listHolds } from "../../runtime/ledgers/provider-holds.ts";
import { asideText } from "../../runtime/files/quarantine.ts";
import { homes } from "../base/home.ts";
import { crewFor } from "../launch/start.ts";
import { hostsHere } from "./hosts.ts";

/** One result of a check. `note` means that the checked thing works, but could work better. */
export type Finding = Readonly<{ state: "ok" | "note" | "broken"; about: string; text: string; fix?: string }>;

/** Checks everything that a run needs. A failed check does not prevent the other checks. */
export async function examine(signal: AbortSignal): Promise<readonly Finding[]> {
  const crew = await crewFor({ quiet: true }).catch((error: unknown) => error);
  const alone = [node(), state(), holds(), quarantine(), sandbox(), git(), ripgrep(), hosts()];
  const checks = isCrew(crew)
    ? [settings(crew), agents(crew), models(crew, signal), runs(crew), servers(crew)]
    : [brokenSettings(crew)];
  const settled = await Promise.allSettled([alone[0]!, ...checks, ...alone.slice(1)]);
  const findings = settled.flatMap((one): readonly Finding[] =>
    one.status === "fulfilled" ? one.value : [{ state: "broken", about: "check", text: messageOf(one.reason) }],
  );
  return isCrew(crew) ? crew.masked(findings) : findings;
}

const isCrew = (value: unknown): value is Crew => typeof value === "object" && value !== null && "settings" in value;

type Check = Promise<readonly Finding[]>;

const OLDEST_NODE = [20, 19] as const;

async function node(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const text = `Node ${process.versions.node}`;
  return isOld
    ? [{ state: "broken", about: "node", text, fix: `Install Node ${OLDEST_NODE.join(".")} or later.` }]
    : [{ state: "ok", about: "node", text }];
}

async function brokenSettings(error: unknown): Check {
  const hint = (error as { hint?: unknown }).hint;
  const fix = typeof hint === "string" && hint !== "" ? hint : "Correct the file with `subcrew config edit`.";
  return [{ state: "broken", about: "settings", text: messageOf(error), fix }];
}

async function settings({ settings: { files, warnings } }: Crew): Check {
  const read = files.filter(({ trusted }) => trusted).map(({ file }) => file);
  return [
    { state: "ok", about: "settings", text: read.length === 0 ? "no settings file; defaults apply" : read.join(", ") },
    ...files
      .filter(({ trusted }) => !trusted)
      .map(
        ({ file }): Finding => ({
          state: "note",
          about: "settings",
          text: `${file} is not trusted and has no effect`,
          fix: "Run `subcrew trust` if you trust this project.",
        }),
      ),
    ...warnings.map((text): Finding => ({ state: "note", about: "settings", text })),
  ];
}

async function agents(crew: Crew): Check {
  const { agents: found, skipped } = await crew.agents();
  const text = `${found.length === 1 ? "1 agent" : `${found.length} agents`} can run`;
  if (skipped.length === 0) return [{ state: "ok", about: "agents", text }];
  const fix = "Run `subcrew agents --all` for the reasons, `subcrew agents lint` for the lines.";
  return [{ state: "note", about: "agents", text: `${text}; ${skipped.length} files were skipped`, fix }];
}

async function models(crew: Crew, signal: AbortSignal): Check {
  const overview = await crew.models({ probe: signal });
  const chosen = overview.default.model;
  const usual: Finding =
    chosen === undefined || chosen === "offline"
      ? {
          state: "note",
          about: "model",
          text: "the default is the built-in offline model, which searches and quotes but does not reason",
          fix: "Export a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, ...), start a local model server, or run `subcrew init`.",
        }
      : { state: "ok", about: "model", text: `the default is ${chosen} (${overview.default.because})` };
  return [usual, ...overview.providers.flatMap((view) => providerFinding(view, chosen))];
}

/**
 * The result for a provider with a key, or for a local server. A local server that does not answer is left out,
 * unless the default model is on it.
 */
function providerFinding({ name, local, usable, because, probe, baseURL }: ProviderView, chosen = ""): Finding[] {
  if (!usable || probe === undefined) return [];
  const about = "provider";
  if (probe.state === "answers") return [{ state: "ok", about, text: `${name} answers: ${probe.why} (${because})` }];
  const isUsed = chosen.startsWith(`${name}/`);
  if (local && !isUsed) return [];
  const text = `${name} at ${baseURL}: ${probe.why} (${because})`;
  if (probe.state === "refused")
    return [{ state: "broken", about, text, fix: `Replace the key: ${because}, but the provider refuses it.` }];
  if (probe.state === "silent")
    return [
      { state: isUsed ? "broken" : "note", about, text, fix: "Check the address and the network (HTTPS_PROXY)." },
    ];
  return [{ state: "note", about, text, fix: "Check the address; the server answers, but not as expected." }];
}

/** Names the models whose provider asked to wait: until then no request of a new run is sent to them. */
async function holds(): Check {
  const held = await listHolds(join(homes().state, "holds"));
  return held.flatMap(({ until, probeAt, about = "a provider", fault }): readonly Finding[] =>
    until === undefined
      ? []
      : [
          {
            state: "note",
            about: "provider",
            text: `no requests are sent to ${about} until ${new Date(probeAt).toISOString()}: ${fault.message}`,
            fix: "Wait, choose another model, or send one request now with `subcrew resume RUN --retry-failed`.",
          },
        ],
  );
}

/** Moves to quarantine what commands left whose process was killed, and names what was moved. */
async function quarantine(): Check {
  const moved = await new InFlight({ state: homes().state }).recover();
  return moved.map((each): Finding => {
    const text = `left by a command whose process was killed: ${asideText(each)}`;
    return { state: each.problem === undefined ? "note" : "broken", about: "quarantine", text };
  });
}

async function sandbox(): Check {
  const { level, text, fix } = await probeSandbox();
  const state = level === "full" ? "ok" : "note";
  return [{ state, about: "sandbox", text: text.replace(/^sandbox: /, ""), ...(fix !== undefined && { fix }) }];
}

const LOW_SPACE = 500 * 1024 * 1024;

async function state(): Check {
  const { state: folder } = homes();
  const about = "state";
  if (!existsSync(folder))
    return [{ state: "ok", about, text: `${folder} does not exist yet; the first run creates it` }];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [
      {
        state: "broken",
        about,
        text: `${folder} cannot be written`,
        fix: `Make the folder writable, or set SUBCREW_HOME to another folder.`,
      },
    ];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const findings: Finding[] = [
    free < LOW_SPACE
      ? {
          state: "broken",
          about,
          text: `${folder}: only ${megabytes(free)} free`,
          fix: "Free some space; `subcrew gc` deletes old runs.",
        }
      : { state: "ok", about, text: `${folder}, ${megabytes(free)} free` },
  ];
  if ((statSync(folder).mode & 0o077) !== 0)
    findings.push({ state: "note", about, text: `${folder} can be read by other users`, fix: `chmod 700 ${folder}` });
  return findings;
}

const megabytes = (bytes: number): string =>
  bytes > 10 * 1024 ** 3 ? `${Math.round(bytes / 1024 ** 3)} GB` : `${Math.round(bytes / 1024 ** 2)} MB`;

async function runs(crew: Crew): Check {
  const all = await crew.kept.list({ all: true });
  const interrupted = all.filter(({ life }) => life === "interrupted");
  const damaged = all.filter(({ life }) => life === "damaged");
  return [
    { state: "ok", about: "runs", text: `${all.length} kept` },
    ...(interrupted.length > 0
      ? [
          {
            state: "note",
            about: "runs",
            text: `${interrupted.length} interrupted`,
            fix: `Continue a run with \`subcrew resume ${interrupted[0]!.id}\`, or delete it with \`subcrew rm\`.`,
          } as const,
        ]
      : []),
    ...damaged.map(
      ({ id }) =>
        ({
          state: "broken",
          about: "runs",
          text: `the journal of ${id} is damaged`,
          fix: `Look at the run with \`subcrew logs ${id}\`, or delete it with \`subcrew rm ${id}\`.`,
        }) as const,
    ),
  ];
}

async function git(): Check {
  const file = findProgram("git", process.env["PATH"], []);
  const missing = "git was not found: worktrees and git context do not work";
  return file === undefined
    ? [{ state: "note", about: "git", text: missing, fix: "Install git." }]
    : [{ state: "ok", about: "git", text: file }];
}

async function ripgrep(): Check {
  const [{ findRipgrep }, { rootOf }] = await Promise.all([
    import("../../tools/search/ripgrep.ts"),
    import("../../runtime/files/open-contained.ts"),
  ]);
  const file = await findRipgrep({ env: process.env, root: await rootOf(process.cwd()) });
  return [
    {
      state: "ok",
      about: "search",
      text: file === undefined ? "the built-in search (ripgrep was not found)" : `ripgrep at ${file}`,
    },
  ];
}

async function servers({ settings: { config } }: Crew): Check {
  return Object.entries(config.mcpServers ?? {}).map(([name, server]): Finding => {
    if (server.enabled === false) return { state: "ok", about: "mcp", text: `${name} is disabled` };
    const problem = serverProblem(server) ?? missingProgram(server.command);
    if (problem === undefined) return { state: "ok", about: "mcp", text: `${name}: ${describeServer(server)}` };
    return {
      state: "broken",
      about: "mcp",
      text: `${name}: ${problem}`,
      fix: "Correct the server with `subcrew config edit`, or install the program.",
    };
  });
}

function missingProgram(command: string | undefined): string | undefined {
  if (command === undefined || command.includes("$") || findProgram(command, process.env["PATH"], []) !== undefined)
    return undefined;
  return `the program "${command}" was not found`;
}

async function hosts(): Check {
  const { home } = homes();
  return hostsHere(home, process.env["PATH"]).map(
    ({ name, registered, file }): Finding =>
      registered
        ? { state: "ok", about: "host", text: `${name} has subcrew registered (${join(home, file)})` }
        : {
            state: "note",
            about: "host",
            text: `${name} is installed, but subcrew is not registered there`,
            fix: `\`subcrew mcp --setup ${name}\` prints the configuration for it.`,
          },
  );
}
