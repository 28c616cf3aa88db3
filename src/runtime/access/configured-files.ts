import { statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { GIT_HOOKS, gitSettings, type NamedPath, pathsNamedBy } from "../../core/policy/git-settings.ts";
import { configuredPlace } from "../../core/policy/protected-paths.ts";
import { readRegularTextSync } from "../disk/regular-file.ts";
import { folderContains } from "../files/folder-contains.ts";
import { realPathOf } from "../files/real-path.ts";

/**
 * The files of a workspace that git's configuration names: files that git executes, or reads as more configuration.
 * They are protected, whether they exist or not, because the next git command of the person uses them.
 */
export type ConfiguredFiles = Readonly<{
  /**
   * The places in a folder that git repositories name, relative to the folder: repositories of the folder and of the
   * folders above it. Repositories deeper in the folder are included once they were registered.
   */
  below(folder: string): readonly string[];
  /** Registers the repositories at these paths of `.git`. True: at least one of them was not known. */
  learn(gitPaths: readonly string[]): boolean;
  /** Registers the repositories in the folders between a folder and a path. */
  learnAbove(folder: string, path: string): void;
}>;

/** Where git's configuration is. */
export type GitHomes = Readonly<{
  homes: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Symbolic links that lead to the home folder or to subcrew's state folder; they are protected, too. */
  links?: readonly string[];
}>;

export function createConfiguredFiles({ homes, env, links = [] }: GitHomes): ConfiguredFiles {
  const read = createReader();
  const learned = new Set<string>();
  const { XDG_CONFIG_HOME: xdg, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM } = env;
  const shared = [
    GIT_CONFIG_SYSTEM ?? "/etc/gitconfig",
    ...(xdg ? [join(xdg, "git/config")] : []),
    ...homes.flatMap((home) => [join(home, ".config/git/config"), join(home, ".gitconfig")]),
    ...(GIT_CONFIG_GLOBAL ? [GIT_CONFIG_GLOBAL] : []),
  ];
  const namedFrom = (top: string): string[] => {
    const named = new Set<string>();
    const open = [...shared, ...configsOf(top)];
    const seen = new Set<string>();
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      for (const path of read(file)) {
        const at = resolved(path, { file, top, home: homes[0] });
        if (path.included) open.push(at);
        for (const each of meant(path, at, top)) named.add(each).add(realPathOf(each));
      }
    }
    return [...named];
  };
  return {
    below: (folder) => {
      const inside = [...learned].filter((top) => folderContains(folder, top));
      const tops = new Set([...repositoriesAbove(folder, "/"), ...inside]);
      if (tops.size === 0) tops.add(folder);
      const all = [...links, ...[...tops].flatMap(namedFrom)];
      const named = all.filter((file) => file !== folder && folderContains(folder, file));
      return [...new Set(named.map((file) => configuredPlace(relative(folder, file).split(sep).join("/"))))];
    },
    learn: (gitPaths) => {
      const tops = gitPaths.map(dirname).filter((top) => !learned.has(top));
      for (const top of tops) learned.add(top);
      return tops.length > 0;
    },
    learnAbove: (folder, path) => {
      for (const top of repositoriesAbove(dirname(path), folder)) learned.add(top);
    },
  };
}

/** The folders from a path up to `last` that contain `.git`. */
function repositoriesAbove(path: string, last: string): string[] {
  const found: string[] = [];
  for (let folder = path; folderContains(last, folder); folder = dirname(folder)) {
    if (stampOf(join(folder, ".git")) !== undefined) found.push(folder);
    if (folder === dirname(folder)) break;
  }
  return found;
}

const IF_THERE = { throwIfNoEntry: false } as const;

/** The configuration files of the repository whose work tree is `top`. */
function configsOf(top: string): string[] {
  const gitDir = linkedFolder(join(top, ".git"));
  const common = resolve(gitDir, textOf(join(gitDir, "commondir")) ?? ".");
  return [join(common, "config"), join(gitDir, "config.worktree")];
}

/** The git folder of a work tree; in a linked work tree or a submodule, `.git` is a file that names it. */
function linkedFolder(path: string): string {
  const text = textOf(path);
  return text?.startsWith("gitdir:") ? resolve(dirname(path), text.slice("gitdir:".length).trim()) : path;
}

function textOf(file: string): string | undefined {
  try {
    return readRegularTextSync(file, MOST_BYTES).trim();
  } catch {
    return undefined; // the file does not exist, or git cannot read it either
  }
}

/** The size limit of configuration files. */
const MOST_BYTES = 4_000_000;

/** Reads the paths in configuration files; a file is read again only after it has changed. */
function createReader(): (file: string) => readonly NamedPath[] {
  const known = new Map<string, Readonly<{ stamp: string; paths: readonly NamedPath[] }>>();
  return (file) => {
    const stats = stampOf(file);
    if (stats === undefined) return [];
    const before = known.get(file);
    if (before?.stamp === stats) return before.paths;
    const paths = gitSettings(textOf(file) ?? "").flatMap(pathsNamedBy);
    known.set(file, { stamp: stats, paths });
    return paths;
  };
}

function stampOf(file: string): string | undefined {
  try {
    const stats = statSync(file, IF_THERE);
    return stats && `${stats.dev}:${stats.ino}:${stats.size}:${stats.ctimeMs}`;
  } catch {
    return undefined; // a part of the path is a file, or may not be entered
  }
}

function resolved(
  { text, beside }: NamedPath,
  { file, top, home }: Readonly<{ file: string; top: string; home: string | undefined }>,
): string {
  if (text.startsWith("~/") && home !== undefined) return join(home, text.slice(2));
  return isAbsolute(text) ? resolve(text) : resolve(beside ? dirname(realPathOf(file)) : top, text);
}

/**
 * The protected paths that a path in a setting stands for. Each hook is listed separately, too, because a hooks folder
 * that is a whole workspace is not protected as such.
 */
function meant({ folder, ifExists, included }: NamedPath, at: string, top: string): string[] {
  if (folder) return [...(at === top ? [] : [at]), ...GIT_HOOKS.map((hook) => join(at, hook))];
  if (included) return [at];
  const stats = stampOf(at) === undefined ? undefined : statSync(at, IF_THERE);
  return stats?.isDirectory() || (ifExists && !stats) ? [] : [at];
}
