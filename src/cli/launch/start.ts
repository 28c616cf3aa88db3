import { resolve } from "node:path";
import { RUN_ABOVE_VARIABLE } from "../../core/delegation/run-above.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import { defined } from "../../core/text/defined.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { unchecked } from "../../modes/compile.ts";
import type { CrewOptions } from "../../crew/outfit/options.ts";
import { createCrew } from "../../crew.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { readSettings } from "../../defaults.ts";
import { openStore, type SharedEngine } from "../../crew/outfit/open-runs.ts";
import { ancestorVariable } from "../../runtime/disk/ancestor-variable.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";
import { type PermissionFlags, permissionsIn } from "../base/permission-flags.ts";
import { terminal } from "../base/terminal.ts";
import { boxesOn } from "../terminal/helper-boxes.ts";
import { agreeToChanges, textsIn } from "../trust/agree-to-changes.ts";
import { watchRun } from "../watch/watch-run.ts";
import { checkFolder, runOptionsOf } from "./settings.ts";

/** Runs an input in the foreground and returns the exit code. */
export async function start(input: AnyInput, flags: Flags, { boxes = false } = {}): Promise<number> {
  const crew = await trustedCrew(flags, textsIn(input));
  const place = terminal(flags, crew.settings.config);
  const taping = await (await import("./cassette.ts")).cassetteFor(flags);
  if (flags.bg)
    return (await import("./background.ts")).runInBackground(
      crew,
      input,
      runOptionsOf(flags, { attended: true }),
      flags,
    );
  const run = crew.run(unchecked(input), {
    ...runOptionsOf(flags, place),
    ownProcess: true,
    ...defined({ deck: taping.deck }),
  });
  const tell = boxes ? boxesOn(place.look) : undefined;
  const background = taping.deck === undefined ? { background: intoBackground(crew, flags, place) } : {};
  const code = taping.end(await watchRun(run, flags, place, { crew, ...defined({ tell }), ...background }));
  if (run.state.status === "paused") return code; // a person who stopped the run must not wait for the clean-up
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const isRead = process.stderr.isTTY && !flags.quiet && !flags.json;
  const { expireRuns } = await import("./retention.ts");
  await expireRuns(crew, { state: homes().state, now: Date.now(), ...(isRead && { say }) });
  return code;
}

/** Continues a paused run in the background, with the same flags. */
export function intoBackground(
  crew: Crew,
  flags: Flags,
  place: { attended: boolean },
): (id: string) => Promise<number> {
  return async (id) => {
    const { name: _, ...options } = runOptionsOf(flags, place);
    return (await import("./background.ts")).moveToBackground(crew, id, options, { ...flags, bg: true });
  };
}

/** Opens the run store, for commands that read a run before they create its crew. */
export function openOwnStore(): ReturnType<typeof openStore> {
  const trust = { project: () => false }; // project settings cannot choose an engine
  const { config } = readSettings({ cwd: process.cwd(), ...homes(), env: process.env, trust });
  return openStore({ env: process.env, ...defined({ engine: config.engine }) });
}

/** Creates the crew for a run, after asking the person about changed files of the project. */
export async function trustedCrew(flags: Flags, used: ReadonlySet<string> = new Set()): Promise<Crew> {
  const crew = await crewFor(flags);
  return (await agreeToChanges(crew, flags, used)) ? crewFor(flags) : crew;
}

/** Creates the crew from the flags and the settings. Warnings about the settings are printed. */
export async function crewFor(
  { cwd, trust, preset, agentScope, quiet, ...flags }: CrewFlags,
  { connection, ...more }: Pick<CrewOptions, "mcpServers"> & SharedEngine = {},
): Promise<Crew> {
  if (cwd !== undefined) await checkFolder(cwd);
  const above = process.env[RUN_ABOVE_VARIABLE] ?? ancestorVariable(RUN_ABOVE_VARIABLE);
  const words = {
    ...(above !== undefined && { [RUN_ABOVE_VARIABLE]: above }),
    ...(preset && { SUBCREW_PRESET: preset }),
    ...(agentScope && { SUBCREW_SCOPE: agentScope }),
  };
  const options = {
    config: true as const,
    ...(Object.keys(words).length > 0 && { env: { ...process.env, ...words } }),
    ...(cwd !== undefined && { cwd: resolve(cwd) }),
    ...(trust && { trusted: true }),
    permissions: permissionsIn(flags),
    ...more,
  };
  const crew = createCrew(options, defined({ connection }));
  for (const warning of quiet ? [] : crew.settings.warnings) process.stderr.write(`warn    ${sanitize(warning)}\n`);
  return crew;
}

type CrewFlags = Pick<Flags, "cwd" | "trust" | "preset" | "agentScope" | "quiet"> & PermissionFlags;
