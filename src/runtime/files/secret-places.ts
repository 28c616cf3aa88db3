import { accessSync, constants, type Dirent, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { movedInto, type Worktree } from "../../core/plan/isolation.ts";
import {
  programFolders,
  secretFinder,
  secretHomeFiles,
  secretHomeFolders,
  secretInHome,
  secretPathsIn,
  secretSystemPlaces,
} from "../../core/policy/secret-paths.ts";
import type { ClosedPlace, FileIdentity } from "../../core/rules/call-subject.ts";
import { folderContains } from "./folder-contains.ts";
import { mountAliases, mountTable } from "./mount-aliases.ts";
import { linksOnTheWay, realPathOf } from "./real-path.ts";

/**
 * Forbidden paths of this machine: secret paths, which a rule can allow, and subcrew's state folder, which is never
 * accessible.
 */
export type ClosedPlaces = Readonly<{
  /** The forbidden place that contains a real path, if any. */
  at(real: string): ClosedPlace | undefined;
  /** The forbidden place that contains another hard link of the file, if any. */
  linked(file: FileIdentity): Promise<ClosedPlace | undefined>;
  /**
   * Other names of forbidden files in these folders: hard links, through which a command could read and change them.
   * Only the first few thousand forbidden files are searched for, because each command waits for this.
   */
  linksIn(folders: readonly string[]): readonly string[];
  /** Whether a real folder contains or is inside a forbidden path. */
  touches(folder: string): boolean;
  /** Real paths of the existing forbidden paths, which are hidden from commands. */
  existing(): HiddenPlaces;
  /**
   * Forbidden paths for a task in a worktree: the worktree is inside of subcrew's state folder, and yet accessible to
   * the task.
   */
  inWorktree(worktree: Worktree): ClosedPlaces;
}>;

export type HiddenPlaces = Readonly<{ folders: readonly string[]; files: readonly string[] }>;

/** The data that decide which paths are forbidden: the folders with secrets, and the environment. */
export type ClosedPlaceSpec = Readonly<{
  homes: readonly string[];
  /** Subcrew's state folder. */
  state: string;
  /**
   * The workspace. The folders that contain it are readable, although they may be forbidden otherwise, since a person
   * chose to work in it.
   */
  workspace: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The folders that contain the home folders of all users. */
  othersIn?: readonly string[];
}>;

export function createClosedPlaces({
  homes: given,
  state: stateFolder,
  workspace,
  env,
  othersIn = OTHER_HOMES,
}: ClosedPlaceSpec): ClosedPlaces {
  const state = realPathOf(stateFolder);
  const real = realPathOf(workspace);
  const homes = [...new Set([...given, ...given.map(realPathOf)])];
  const named = secretPathsIn(env).flatMap((path) => [path, realPathOf(path)]);
  const secretIn = secretFinder(homes, [...new Set(named)]);
  // A symbolic link among the secret places (~/.aws -> ~/dotfiles/aws) also makes its target forbidden. The targets are
  // resolved before the first file is opened or the first command starts: a task that does neither needs none of these
  // calls.
  const mounts = currentMounts();
  const linkTargets = oncePer(mounts, () => {
    const { folders, files } = secretPlaces(homes, named);
    const all = [...folders, ...files];
    return [...all, ...all.flatMap((path) => mountAliases(path, mounts()))].filter(
      (path) => secretIn(path) === undefined,
    );
  });
  const states = oncePer(mounts, () => [state, ...mountAliases(state, mounts())]);
  const stateLinks = once(() => new Set(linksOnTheWay(stateFolder)));
  const secretAt = (path: string): string | undefined =>
    secretIn(path) ?? linkTargets().find((place) => folderContains(place, path));
  const chosen = once(() => secretAt(real)); // the secret folder that contains the workspace, if any: the person chose to work in it
  const at = (path: string): ClosedPlace | undefined => {
    if (states().some((folder) => folderContains(folder, path)) || stateLinks().has(path))
      return { kind: "state", name: state };
    const name = secretAt(path);
    return name === undefined || name === chosen() ? undefined : { kind: "secret", name };
  };
  const ofOthers = secretsOfOthers(homes, othersIn);
  const places = (): HiddenPlaces => {
    const { folders, files } = secretPlaces(homes, [...named, ...states(), ...linkTargets(), ...ofOthers()]);
    return { folders: folders.filter((path) => at(path) !== undefined), files };
  };
  const everywhere = oncePer(mounts, () => [
    ...homes,
    ...othersIn,
    ...secretSystemPlaces,
    "/proc",
    ...named,
    ...linkTargets(),
    ...states(),
    ...stateLinks(),
  ]);
  const identities = linkedIdentities(places);
  let linked: ReadonlySet<string> = new Set();
  let knownUntil = 0;
  const own: Omit<ClosedPlaces, "inWorktree"> = {
    at,
    linked: async ({ dev, ino, nlink }) => {
      if (nlink < 2) return undefined;
      const path = (await identities()).get(`${dev}:${ino}`);
      return path === undefined ? undefined : at(path);
    },
    linksIn: (folders) => {
      if (performance.now() > knownUntil) {
        knownUntil = performance.now() + FRESH_MS;
        linked = severalLinks(places());
      }
      if (linked.size === 0) return [];
      return folders.flatMap((folder) => namesOf(linked, folder)).filter((path) => at(path) === undefined);
    },
    touches: (folder) => at(folder) !== undefined || everywhere().some((place) => folderContains(folder, place)),
    existing: places,
  };
  return { ...own, inWorktree: (worktree) => inWorktree(own, worktree) };
}

/** Computes a value on first use. */
function once<T>(make: () => T): () => T {
  let made: Readonly<{ value: T }> | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Computes a value on first use, and again when the key has changed. */
function oncePer<T>(key: () => string, make: () => T): () => T {
  let made: Readonly<{ key: string; value: T }> | undefined;
  return () => {
    const now = key();
    if (made?.key !== now) made = { key: now, value: make() };
    return made.value;
  };
}

/** How old the known list of mounts may be: a mount that a person makes while a run works is noticed within this time. */
const MOUNTS_MS = 1_000;

function currentMounts(): () => string {
  let table = "";
  let until = 0;
  return () => {
    if (performance.now() < until) return table;
    const now = mountTable();
    if (now !== table) table = now; // an equal text stays the same object, which is quick to compare
    until = performance.now() + MOUNTS_MS;
    return table;
  };
}

/** Also forbids the copies of forbidden files in a worktree. */
function inWorktree(outer: Omit<ClosedPlaces, "inWorktree">, worktree: Worktree): ClosedPlaces {
  const { top, of } = worktree;
  const origin = (path: string): string => (folderContains(top, path) ? join(of, path.slice(top.length)) : path);
  const at: ClosedPlaces["at"] = (path) => outer.at(origin(path));
  const own: Omit<ClosedPlaces, "inWorktree"> = {
    at,
    linked: outer.linked,
    linksIn: (folders) => outer.linksIn(folders),
    touches: (folder) => outer.touches(origin(folder)),
    existing: () => {
      const { folders, files } = outer.existing();
      const copies = [...folders, ...files]
        .map((path) => movedInto(worktree, path))
        .filter((path) => folderContains(top, path));
      const there = secretPlaces([], copies);
      return { folders: [...folders, ...there.folders], files: [...files, ...there.files] };
    },
  };
  return { ...own, inWorktree: (inner) => inWorktree(own, inner) };
}

/** The folders that contain home folders, such as `/home`; and `/root`, which is itself a home folder. */
const OTHER_HOMES = ["/home", "/root", "/Users", "/var/home"];

/**
 * Finds the secret places of other users that this user can read. The search runs at most once a minute, because each
 * command waits for it.
 */
function secretsOfOthers(own: readonly string[], folders: readonly string[]): () => readonly string[] {
  let found: readonly string[] = [];
  let until = 0;
  return () => {
    if (performance.now() < until) return found;
    until = performance.now() + FRESH_MS;
    const homes = folders.flatMap((folder) =>
      folder === "/root" ? [folder] : entriesIn(folder).map(({ name }) => join(folder, name)),
    );
    found = homes
      .filter((home) => !own.includes(home) && isAllowed(home, constants.X_OK))
      .flatMap((home) => [...listedIn(home), ...secretsByName(home)])
      .filter((path) => isAllowed(path, constants.R_OK));
    return found;
  };
}

/** The places of the list of secrets that a home folder may contain; all of them if its entries cannot be listed. */
function listedIn(home: string): string[] {
  const top = new Set(entriesIn(home).map(({ name }) => name));
  return [...secretHomeFolders, ...secretHomeFiles]
    .filter((place) => top.size === 0 || top.has(place.split("/")[0]!))
    .map((place) => join(home, place));
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Other names, in these folders, of files that may not be read or lie in such folders: hard links to them. */
export function hardLinksTo(closed: readonly string[], folders: readonly string[]): string[] {
  if (closed.length === 0) return [];
  const linked = severalLinks(byKind(closed));
  return linked.size === 0 ? [] : folders.flatMap((folder) => namesOf(linked, folder));
}

/** Whether a file with several names is a file that may not be read, or lies in a folder that may not be read. */
export function createLinkCheck(closed: () => readonly string[]): (file: FileIdentity) => Promise<boolean> {
  const identities = linkedIdentities(() => byKind(closed()));
  return async ({ dev, ino, nlink }) => nlink > 1 && (await identities()).has(`${dev}:${ino}`);
}

/** The real paths of the existing secret places. */
export function secretPlaces(homes: readonly string[], more: readonly string[] = []): HiddenPlaces {
  return byKind([
    ...homes.flatMap((home) => [...secretHomeFolders, ...secretHomeFiles].map((name) => join(home, name))),
    ...homes.flatMap(secretsByName),
    ...secretSystemPlaces,
    ...more,
  ]);
}

/** The real paths of these files and folders, as far as they exist. */
function byKind(wanted: readonly string[]): HiddenPlaces {
  const folders = new Set<string>();
  const files = new Set<string>();
  for (const path of wanted) {
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats !== undefined) (stats.isDirectory() ? folders : files).add(realpathSync.native(path));
    } catch {
      // this user cannot read the place, so commands of this user cannot either
    }
  }
  return { folders: [...folders], files: [...files] };
}

const byName = new Map<string, Readonly<{ found: readonly string[]; until: number }>>();

/**
 * Files and folders in the hidden part of a home folder whose names look secret. The search runs at most once a minute,
 * because each command waits for it.
 */
function secretsByName(home: string): readonly string[] {
  const known = byName.get(home);
  if (known !== undefined && performance.now() < known.until) return known.found;
  const below = (folder: string): string[] =>
    entriesIn(join(home, folder)).map(({ name }) => (folder === "" ? name : `${folder}/${name}`));
  const isOpen = (path: string): boolean => secretInHome(path) === undefined;
  const top = below("").filter((name) => name.startsWith("."));
  const programs = [...top, ...programFolders.flatMap(below)].filter(isOpen);
  const found = [...top, ...[...programs, ...programFolders].flatMap(below)]
    .filter((path) => !isOpen(path))
    .map((path) => join(home, path));
  byName.set(home, { found, until: performance.now() + FRESH_MS });
  return found;
}

/** How many entries of forbidden folders are looked at before a command. */
const MOST_BEFORE_COMMAND = 3_000;

/** The identities of forbidden files that have several names, the upper folder levels first. */
function severalLinks({ folders, files }: HiddenPlaces): ReadonlySet<string> {
  const found = new Set<string>();
  const queue = [...folders];
  let left = MOST_BEFORE_COMMAND;
  const look = (path: string): void => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.nlink > 1) found.add(`${stats.dev}:${stats.ino}`);
  };
  for (const file of files) look(file);
  for (let folder = queue.shift(); folder !== undefined && left > 0; folder = queue.shift()) {
    for (const entry of entriesIn(folder)) {
      left -= 1;
      if (entry.isDirectory()) queue.push(join(folder, entry.name));
      else if (entry.isFile()) look(join(folder, entry.name));
    }
  }
  return found;
}

/** The files below a folder that have one of these identities (device and inode). */
function namesOf(identities: ReadonlySet<string>, folder: string): string[] {
  const found: string[] = [];
  const open = [folder];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const entry of entriesIn(at)) {
      const path = join(at, entry.name);
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) {
        const stats = lstatSync(path, { throwIfNoEntry: false });
        if (stats && stats.nlink > 1 && identities.has(`${stats.dev}:${stats.ino}`)) found.push(path);
      }
    }
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // this user cannot read the folder, and neither can its commands
  }
}

const MOST_LINKED = 20_000;
const FRESH_MS = 60_000;

/**
 * Files in forbidden places that have several hard links, by device and inode; the upper folder levels first. The list
 * is refreshed after a while.
 */
function linkedIdentities(places: () => HiddenPlaces): () => Promise<ReadonlyMap<string, string>> {
  let known: Promise<ReadonlyMap<string, string>> | undefined;
  let until = 0;
  return () => {
    if (known === undefined || performance.now() > until) {
      until = performance.now() + FRESH_MS;
      known = collect(places());
    }
    return known;
  };
}

async function collect({ folders, files }: HiddenPlaces): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let left = MOST_LINKED;
  const look = async (path: string): Promise<void> => {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() && stats.nlink > 1) found.set(`${stats.dev}:${stats.ino}`, path);
  };
  await Promise.all(files.map(look));
  const queue = [...folders];
  for (let folder = queue.shift(); folder !== undefined && left > 0; folder = queue.shift()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    left -= entries.length;
    await Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => look(join(folder, entry.name))));
    for (const entry of entries) if (entry.isDirectory()) queue.push(join(folder, entry.name));
  }
  return found;
}
