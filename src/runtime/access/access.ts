import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Agent } from "../../core/agent/agent.ts";
import { movedInto, type Worktree } from "../../core/plan/isolation.ts";
import type { Task } from "../../core/plan/task.ts";
import { isOpened, readAsks, readBans } from "../../core/policy/judge-call.ts";
import { readLimits } from "../../core/policy/read-limits.ts";
import { type Permissions, policyOf } from "../../core/policy/permissions.ts";
import {
  intersect,
  mayUseNamespaces,
  mayUseNetwork,
  narrow,
  type Policy,
  withLease,
} from "../../core/policy/policy.ts";
import { configuredPlace, protectedPart } from "../../core/policy/protected-paths.ts";
import type { ClosedInFolder, FileIdentity, LocatedSubject } from "../../core/rules/call-subject.ts";
import { wholeFolders } from "../../core/rules/lease.ts";
import type { Rule } from "../../core/rules/rule.ts";
import { CrewError } from "../../core/schema/error.ts";
import type { ChangeRecorder } from "../../core/task/change-recorder.ts";
import type { ShellCommands } from "../../core/task/shell-commands.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import { defined } from "../../core/text/defined.ts";
import { type ShellHost, createShellCommands } from "../commands/commands.ts";
import type { GuardedRoot } from "../commands/command-record.ts";
import { InFlight } from "../commands/in-flight.ts";
import { probeSandbox, type SandboxLevel } from "../commands/probe-sandbox.ts";
import { type ConfiguredFiles, createConfiguredFiles } from "./configured-files.ts";
import { homeAnchors, homeFolders, realOf } from "./local-places.ts";
import { createPathLocks, type PathLocks } from "../disk/path-locks.ts";
import { closedByName, closedPaths } from "../files/closed-paths.ts";
import { folderContains } from "../files/folder-contains.ts";
import { type Root, rootOf } from "../files/open-contained.ts";
import { resolveSubject } from "../files/resolve-subject.ts";
import { linksOnTheWay } from "../files/real-path.ts";
import { type ClosedPlaces, createClosedPlaces, createLinkCheck, hardLinksTo } from "../files/secret-places.ts";

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

/** The task for which access is opened. */
export type AccessRequest = Readonly<{
  run: string;
  path: string;
  depth: number;
  agent: Pick<Agent, "name" | "permission" | "tools" | "disallowedTools" | "rules" | "sandbox">;
  /** The policy of the parent task. */
  policy?: Policy;
  /** The worktree that the task works in. */
  worktree?: Worktree;
  /** The options of the task, such as the files that it may write. */
  task?: Pick<Task, "writes">;
  cwd: string;
  env(): Readonly<Record<string, string>>;
  /** True: the task may run commands. */
  commands: boolean;
  /** Called once per run, at the first command, to report the sandbox. */
  note(level: SandboxLevel): void;
}>;

/** The access of the tasks of one run: an approval applies to all of them until the run ends. */
export type RunAccess = Readonly<{
  policyFor(agent: AccessRequest["agent"], parent?: Policy): Policy;
  /** Opens the access of a task. `undefined`: its working folder is outside of the run's folders. */
  accessFor(task: AccessRequest): Promise<TaskAccess | undefined>;
}>;

export function createRunAccess(parts: AccessParts): RunAccess {
  const agreed: Rule[] = [];
  const session = parts.session ?? [];
  let told = false;
  const recorders = new Map<string, ChangeRecorder | undefined>();
  const isClosed = (real: string): boolean => parts.closed.at(real) !== undefined;
  const recorder = (run: string): ChangeRecorder | undefined => {
    if (!recorders.has(run)) recorders.set(run, parts.changes?.(run, isClosed));
    return recorders.get(run);
  };
  const folders = new Map<string, string | undefined>();
  const outputsOf = (run: string): string | undefined => {
    if (!folders.has(run)) folders.set(run, parts.outputs?.(run));
    return folders.get(run);
  };
  const rootsOfRun = createRoots();
  const policyFor: RunAccess["policyFor"] = (agent, parent) => {
    const around = parent ?? parts.policy;
    const known = narrowed.get(around) ?? new WeakMap<AccessRequest["agent"], Policy>();
    const policy = known.get(agent) ?? narrow(around, agent);
    narrowed.set(around, known.set(agent, policy));
    return policy;
  };
  return {
    policyFor,
    accessFor: async (task) => {
      const place = await placesFor(parts, task, rootsOfRun);
      if (!place) return undefined;
      const writes = task.task?.writes;
      const own = withLease(policyFor(task.agent, task.policy), writes && { of: task.path, globs: writes });
      let configured: readonly string[] = [];
      const policy = (): Policy => {
        const granted =
          agreed.length + session.length === 0 ? own : { ...own, allow: [...own.allow, ...session, ...agreed] };
        return configured.length === 0 ? granted : { ...granted, configured };
      };
      const { roots, placeOf } = place;
      const isBannedLink = bannedLinks(own, place.tops, placeOf);
      const shut = task.worktree ? parts.closed.inWorktree(task.worktree) : parts.closed;
      const note = (level: SandboxLevel): void => {
        if (!told) task.note(level);
        told = true;
      };
      const folder = outputsOf(task.run);
      const files = new Set<string>();
      const handed = folder === undefined ? {} : { handed: { files } };
      let host: Promise<ShellHost> | undefined;
      const commands = async (): Promise<ShellCommands> => {
        host ??= commandsFor(parts, task, { ...place, policy, note, shut, handed: () => [...files] });
        return (await host).commands;
      };
      return {
        policy,
        agree: async (rules, scope = "run") => {
          (scope === "session" ? session : agreed).push(...rules);
          if (scope === "project" || scope === "user") await parts.keep?.(rules, scope);
        },
        locate: async (subject) => {
          const found = await resolveSubject(subject, { roots, placeOf, closed: shut, ...handed });
          if (found.kind === "command" || (found.kind === "path" && found.change))
            configured = place.configured(found.kind === "path" ? found.places : []);
          return found;
        },
        placeOf,
        closedIn: (tool, folder, judged) =>
          closedIn(folder, { tool, judged, policy: policy(), placeOf, shut, isBannedLink }),
        closedBelow: (folders) => {
          const { folders: whole, files: single } = shut.existing();
          return [...whole, ...single].filter((path) => folders.some((folder) => folderContains(folder, path)));
        },
        roots: roots.slice(1).map(({ real }) => real),
        ...handed,
        allowReading: (told) => {
          for (const file of told) if (folder !== undefined && isOutput(folder, file)) files.add(file);
        },
        demands: { sandbox: parts.settings.sandbox ?? "auto", weaker: parts.settings.allowWeaker ?? false },
        exclusively: (places, work, signal) => parts.locks(places.map(place.realOf), work, signal),
        seen: new Map(),
        noteWrite: async (real) => {
          if (protectedPart(placeOf(real), policy()) !== undefined) await parts.inFlight.permit(real);
        },
        ...(!task.worktree && defined({ changes: recorder(task.run) })),
        ...(task.commands && {
          commands,
          sandbox: async () => ({
            ...(await levelFor(parts)),
            waived: parts.settings.sandbox === "off",
            network: mayUseNetwork(own),
            roots: roots.slice(1).map(({ real }) => real),
            ...(own.leases && { leased: leasedFolders(own, roots, placeOf) }),
          }),
        }),
        end: async () => (await host)?.end(),
      };
    },
  };
}

/** True for a file in the output folder of a run; `folder` is the output folder of one of the runs. */
function isOutput(folder: string, file: string): boolean {
  const [run, name, ...rest] = relative(dirname(dirname(folder)), file).split(sep);
  return run !== ".." && name === basename(folder) && rest.length > 0;
}

/**
 * Cache of the policies of agents, by the policy of the caller. Neither policy ever changes, and all tasks of one agent
 * have the same object.
 */
const narrowed = new WeakMap<Policy, WeakMap<AccessRequest["agent"], Policy>>();

type ClosedTo = Readonly<{
  tool: string;
  /** The files and folders that the call names. */
  judged: readonly LocatedSubject[];
  policy: Policy;
  placeOf(absolute: string): string;
  shut: ClosedPlaces;
  /** Whether a file is another name of a file that a rule forbids to read. */
  isBannedLink(file: FileIdentity): Promise<boolean>;
}>;

/**
 * Finds hard links to files in these folders that rules forbid to read. In very large folders it does not search, and
 * finds no links.
 */
function bannedLinks(
  policy: Policy,
  folders: readonly string[],
  placeOf: ClosedTo["placeOf"],
): ClosedTo["isBannedLink"] {
  if (readBans(policy) === undefined) return async () => false;
  return createLinkCheck(() => [
    ...closedByName(policy),
    ...folders.flatMap((folder) => {
      try {
        return closedPaths(policy, folder, placeOf);
      } catch {
        return [];
      }
    }),
  ]);
}

/** Predicates for forbidden paths in a folder; absent where nothing can be forbidden, so that entries need no check. */
function closedIn(folder: string, { tool, judged, policy, placeOf, shut, isBannedLink }: ClosedTo): ClosedInFolder {
  const bans = readBans(policy);
  const asks = readAsks(policy, tool, judged);
  const limits = readLimits(policy, tool);
  const touched = shut.touches(folder);
  return {
    ...((bans !== undefined || asks !== undefined || limits !== undefined || touched) && {
      isClosed: (inner) => {
        const absolute = inner === "" ? folder : join(folder, inner);
        const place = placeOf(absolute);
        if (bans?.(place) || asks?.(place) || limits?.(place, () => isDirectory(absolute))) return true;
        const closed = touched ? shut.at(absolute) : undefined;
        return closed !== undefined && !isOpened(policy, tool, { place, closed });
      },
    }),
    isClosedFile: async (file) => (await shut.linked(file)) !== undefined || (await isBannedLink(file)),
  };
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The files that the context of a run may show: files of the workspace and its repository, without forbidden files. */
export type ContextAccess = Readonly<{
  root: Root;
  homes: readonly string[];
  closedIn(folder: string): ClosedInFolder;
}>;

export async function contextAccess({ cwd, policy, homes, closed: shut }: AccessParts): Promise<ContextAccess> {
  const root = await rootOf(cwd);
  const placeOf = (absolute: string): string => relative(root.real, absolute).split(sep).join("/");
  const isBannedLink = bannedLinks(policy, [root.real], placeOf);
  const inFolder = (folder: string): ClosedInFolder =>
    closedIn(folder, { tool: "read_file", judged: [], policy, placeOf, shut, isBannedLink });
  return { root: { ...root, ...inFolder(root.real) }, homes, closedIn: inFolder };
}

type Places = Awaited<ReturnType<typeof placesFor>> & object;

/** The access of a task. Folders are fixed at the start of the run: no agent can add a folder. */
async function placesFor(
  { cwd: workspace, settings, homes, configured }: AccessParts,
  { cwd, depth, worktree }: AccessRequest,
  rootOf: RootsOfRun,
) {
  const openRoot = async (folder: string): Promise<Root> => {
    const root = await rootOf(folder);
    const moved = worktree ? movedInto(worktree, root.real) : root.real;
    return moved === root.real ? root : rootOf(moved);
  };
  const top = await openRoot(workspace);
  const own = await rootOf(cwd);
  const others = await Promise.all(
    (settings.writableRoots ?? []).map((folder) => openRoot(resolve(workspace, folder))),
  );
  if (depth > 0 && ![top, ...others].some(({ real }) => folderContains(real, own.real))) return undefined;
  const base = folderContains(top.real, own.real) ? top.real : own.real;
  const placeOf = (absolute: string): string =>
    folderContains(base, absolute) ? relative(base, absolute).split(sep).join("/") : absolute;
  // The configuration is that of the workspace, also for a task in a worktree: its changes return to the workspace.
  const origin = base === top.real ? (await rootOf(workspace)).real : base;
  const rootAt = (folder: string): Omit<GuardedRoot, "skipped"> =>
    folderContains(base, folder)
      ? {
          root: folder,
          place: placeOf(folder),
          named: placeOf(folder),
          homes: homeAnchors(base, homes),
          configured: configured.below(origin),
        }
      : {
          root: folder,
          place: "",
          named: folder,
          homes: homeAnchors(folder, homes),
          configured: configured.below(folder),
        };
  const roots = [own, ...others.filter(({ real }) => !folderContains(own.real, real))];
  return {
    roots,
    realOf: (place: string): string => resolve(base, place),
    /** The workspace, and the folders outside of it. */
    tops: [base, ...roots.map(({ real }) => real).filter((real) => !folderContains(base, real))],
    placeOf,
    rootAt,
    /**
     * The places that git's configuration names, including the configuration of repositories on the way to these
     * places.
     */
    configured: (places: readonly string[]): readonly string[] => {
      for (const place of places) if (!isAbsolute(place)) configured.learnAbove(origin, join(origin, place));
      const elsewhere = others.filter(({ real }) => !folderContains(base, real));
      return [
        ...configured.below(origin),
        ...elsewhere.flatMap(({ real }) => configured.below(real).map((inner) => configuredPlace(`${real}/${inner}`))),
      ];
    },
  };
}

/** Resolves a folder once per run, because many tasks use the same folder. */
type RootsOfRun = (folder: string) => Promise<Root>;

function createRoots(): RootsOfRun {
  const known = new Map<string, Promise<Root>>();
  return (folder) => {
    const before = known.get(folder);
    if (before) return before;
    const root = rootOf(folder);
    known.set(folder, root);
    root.catch(() => known.delete(folder)); // the folder may be created later
    return root;
  };
}

async function commandsFor(
  parts: AccessParts,
  task: AccessRequest,
  {
    roots,
    placeOf,
    rootAt,
    policy,
    note,
    shut,
    handed,
  }: Places & {
    policy: () => Policy;
    note: (level: SandboxLevel) => void;
    shut: ClosedPlaces;
    handed: () => readonly string[];
  },
): Promise<ShellHost> {
  const wish = parts.settings.sandbox ?? "auto";
  const level = await levelFor(parts);
  const cwd = roots[0]!.real;
  // Folders inside subcrew's state folder are never accessible to commands.
  const writable = roots.map(({ real }) => real).filter((real) => shut.at(real)?.kind !== "state");
  const place = placeOf(cwd);
  const outputs = parts.outputs?.(task.run);
  // A command that starts in a worktree or a subfolder also sees the workspace.
  const workspace = (await rootOf(parts.cwd)).real;
  const closed = (): string[] => [
    ...closedByName(policy()),
    ...closedPaths(policy(), workspace, (path) => relative(workspace, path).split(sep).join("/")),
    ...writable.flatMap((root) => (folderContains(workspace, root) ? [] : closedPaths(policy(), root, placeOf))),
  ];
  note(level);
  return createShellCommands({
    name: task.run,
    cwd,
    writable,
    ...(task.worktree && { seen: [dirname(dirname(task.worktree.gitDir))] }), // the repository's git folder is visible, too
    ...(policy().leases && { leased: leasedFolders(policy(), roots, placeOf) }),
    place,
    wish,
    sandbox: level,
    network: () => mayUseNetwork(policy()),
    namespaces: mayUseNamespaces(policy()),
    inFlight: parts.inFlight,
    rootAt,
    learn: parts.configured.learn,
    allow: () => policy().allow.filter(({ pattern }) => pattern !== undefined),
    ...defined({ finisher: parts.finisher }),
    homes: [],
    handed,
    hidden: async () => {
      const { folders, files } = shut.existing();
      const forbidden = closed();
      return [...folders, ...files, ...shut.linksIn(writable), ...forbidden, ...hardLinksTo(forbidden, writable)];
    },
    env: task.env,
    ...(outputs !== undefined && { outputs: join(outputs, `${task.path}.commands`) }),
    ...defined({ redact: parts.redact }),
  });
}

/** The existing writable folders that are completely within every lease (the files that tasks declared to write). */
function leasedFolders({ leases = [] }: Policy, roots: readonly Root[], placeOf: Places["placeOf"]): string[] {
  const isCovered = (folder: string): boolean =>
    leases.every((lease) => wholeFolders(lease).some((whole) => folderContains(`/${whole}`, `/${placeOf(folder)}`)));
  const wanted = leases.flatMap(wholeFolders).flatMap((whole) =>
    roots.flatMap(({ real }) => {
      const place = placeOf(real);
      if (isAbsolute(place)) return []; // the patterns of leases are relative to the workspace
      if (folderContains(`/${whole}`, `/${place}`)) return [real];
      return folderContains(`/${place}`, `/${whole}`) ? [join(real, relative(`/${place}`, `/${whole}`))] : [];
    }),
  );
  return [...new Set(wanted)].filter((folder) => isCovered(folder) && isPlainFolder(folder));
}

/** False for a symbolic link, which could lead anywhere. */
function isPlainFolder(folder: string): boolean {
  const real = existsSync(folder) && statSync(folder).isDirectory() ? realpathSync.native(folder) : undefined;
  return real === folder;
}

const OFF: SandboxLevel = {
  level: "none",
  text: "sandbox: off - the sandbox is disabled. Shell commands run with your full rights.",
};

const levelFor = async ({ settings, sandbox }: AccessParts): Promise<SandboxLevel> =>
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
