import { join } from "node:path";
import { type Permissions, policyOf } from "../../core/policy/permissions.ts";
import { intersect, type Policy } from "../../core/policy/policy.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import { defined } from "../../core/text/defined.ts";
import { InFlight } from "../commands/in-flight.ts";
import { probeSandbox, type SandboxLevel } from "../commands/probe-sandbox.ts";
import { createPathLocks, type PathLocks } from "../disk/path-locks.ts";
import { linksOnTheWay } from "../files/real-path.ts";
import { type ClosedPlaces, createClosedPlaces } from "../files/secret-places.ts";
import { type ConfiguredFiles, createConfiguredFiles } from "./configured-files.ts";
import { homeAnchors, homeFolders, realOf } from "./local-places.ts";

/** Access settings that all runs of a crew share. */
export type AccessParts = Readonly<{
  /** The workspace folder of the run. */
  cwd: string;
  settings: Permissions;
  policy: Policy;
  /** The available sandbox, tested on first use. */
  sandbox(): Promise<SandboxLevel>;
  /** The shell commands of all runs that have not ended. */
  inFlight: InFlight;
  /**
   * The program that runs after this process was killed. It moves protected files that a command created to quarantine.
   */
  finisher?: string;
  homes: readonly string[];
  /** Files that git's configuration names. They are protected like git's own files. */
  configured: ConfiguredFiles;
  /** Forbidden places: places of secrets, and subcrew's state folder. */
  closed: ClosedPlaces;
  /** Stores approvals that a person gave permanently. */
  keep?(rules: readonly Rule[], scope: "project" | "user"): Promise<void>;
  /** Approvals that hold for all runs of this crew until it ends. */
  session?: Rule[];
  /** The folder with the task outputs of a run. */
  outputs?(run: string): string | undefined;
  /** Stores the files that a run changes, except files that may not be read. */
  changes?(run: string, isClosed: (real: string) => boolean): ChangeRecorder | undefined;
  /** Removes secrets from stored output. */
  redact?(text: string): string;
  /** Locks on the files that tools change. */
  locks: PathLocks;
}>;

/** The folders that matter for the access of a crew's tasks. */
export type AccessFolders = Readonly<{
  cwd: string;
  /** The user's home folder, from the environment. */
  home: string | undefined;
  /** Subcrew's state folder, with the journals of runs. */
  state: string;
  env: Readonly<Record<string, string | undefined>>;
  /** False: nothing is written to subcrew's state folder, not even records of running commands. */
  kept?: boolean;
  finisher?: string | undefined;
  outputs?: AccessParts["outputs"];
  changes?: AccessParts["changes"];
  redact?: AccessParts["redact"];
}>;

/** Limits the policy of a resumed run to the permissions recorded for the run: resuming must not add permissions. */
export function restrictTo(parts: AccessParts, before: Permissions, own: readonly string[]): AccessParts {
  const strictness = ["off", "auto", "required"] as const;
  const wish = ({ sandbox = "auto" }: Permissions): number => strictness.indexOf(sandbox);
  const sandbox = strictness[Math.max(wish(parts.settings), wish(before))]!;
  const allowWeaker = parts.settings.allowWeaker === true && before.allowWeaker === true;
  const had = new Set(before.writableRoots);
  const writableRoots = (parts.settings.writableRoots ?? []).filter((folder) => had.has(folder));
  return {
    ...parts,
    settings: { ...parts.settings, sandbox, writableRoots, allowWeaker },
    policy: intersect(parts.policy, policyOf(before, own)),
  };
}

/**
 * The access for these settings; `own` are the names of tools that the library user passed. Throws for an invalid rule.
 */
export function accessParts(
  settings: Permissions,
  { cwd, home, state, env, kept = true, finisher, outputs, changes, redact }: AccessFolders,
  own: readonly string[],
): AccessParts {
  const homes = homeFolders(home);
  const links = [state, ...(home === undefined ? [] : [home])].flatMap(linksOnTheWay);
  let level: Promise<SandboxLevel> | undefined;
  return {
    cwd,
    settings,
    policy: { ...policyOf(settings, own), homes: homeAnchors(realOf(cwd), homes) },
    sandbox: () => (level ??= sandboxHere()),
    inFlight: new InFlight({ ...(kept && { state }), skipped: [realOf(state)] }),
    homes,
    configured: createConfiguredFiles({ homes, env, links }),
    closed: createClosedPlaces({ homes, state, workspace: cwd, env }),
    locks: createPathLocks(kept ? join(state, "locks") : undefined),
    ...defined({ finisher, outputs, changes, redact }),
  };
}

const OFF: SandboxLevel = {
  level: "none",
  text: "sandbox: off - the sandbox is disabled. Shell commands run with your full rights.",
};

/** The sandbox of the commands of a crew. */
export const levelFor = async ({ settings, sandbox }: AccessParts): Promise<SandboxLevel> =>
  settings.sandbox === "off" ? OFF : sandbox();

/** Throws when a sandbox is required but not available. */
export async function demandSandbox({ settings, sandbox }: Pick<AccessParts, "settings" | "sandbox">): Promise<void> {
  if (settings.sandbox !== "required") return;
  const { level, text, fix } = await sandbox();
  if (level === "full") return;
  throw new CrewError(
    "NO_SANDBOX",
    `A sandbox is required, but none works here. ${text}`,
    `${fix === undefined ? "" : `Needed: ${fix}. `}Or relax the requirement with --sandbox auto or --sandbox off.`,
  );
}

/** The result of a test that found a full sandbox: it holds for the machine, so other crews of this process use it. */
let full: SandboxLevel | undefined;

async function sandboxHere(): Promise<SandboxLevel> {
  const level = full ?? (await probeSandbox());
  if (level.level === "full") full = level;
  return level;
}
