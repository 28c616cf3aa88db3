import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { devNull } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ClosedInFolder } from "../../core/rules/call-subject.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { endlessFile } from "./endless-file.ts";
import { secretData } from "./secret-data.ts";
import { killStuck, type StuckReason } from "./stuck-process.ts";

/**
 * Opens the repository whose `.git` is in `top` for safe queries: git starts no program that the repository names, uses
 * no network, asks no questions and writes nothing.
 *
 * `top` is the work tree, whatever the configuration says. Git's own ownership check stays on. A bare repository is
 * never used, nor a repository whose data is in a secret place elsewhere. Every query has a time limit and an output
 * limit, and a failure is a result, not an exception.
 */
export async function openRepository(top: string, place: GitPlace = {}): Promise<Repository | GitFailure> {
  const valid = await git(top, ["rev-parse", "--git-dir", "--git-common-dir"], place);
  if (!valid.ok) return valid;
  const listed = await git(top, ["config", "--list", "--show-scope", "--name-only", "-z"], place);
  if (!listed.ok) return listed;
  const keys = keysIn(listed.text);
  const filters = new Set(keys.flatMap(({ key }) => FILTER.exec(key)?.[1] ?? []));
  if (listed.cut || filters.size > MOST_FILTERS) return { ok: false, reason: "the git configuration is too large" };
  if (keys.some(({ scope, key }) => OWN.has(scope) && CONDITION.test(key)))
    return { ok: false, reason: "the git configuration has different values in different places (includeIf)" };
  const named = await namedFiles(keys, (...args) => git(top, args, place));
  const gitDirs = valid.text.split("\n").filter((folder) => folder !== "");
  const endless = endlessFile(
    gitDirs.map((folder) => resolve(top, folder)),
    named.map((file) => resolve(top, file)),
  );
  if (endless !== undefined) return { ok: false, reason: `${endless} is not a regular file, or is too long` };
  const secret = secretData(
    top,
    gitDirs.map((folder) => resolve(top, folder)),
    [...(place.homes ?? []), ...(place.home === undefined ? [] : [place.home])],
  );
  if (secret !== undefined) return { ok: false, reason: secret };
  const settings = [...filters].flatMap(withoutFilter);
  return {
    ok: true,
    ask: (...args) => git(top, args, place, settings),
    work: (args, tree = {}) => git(top, args, place, settings, tree),
  };
}

/** The nearest folder upwards that holds `.git`. A bare repository is never used, wherever it is. */
export async function topOf(cwd: string): Promise<string | undefined> {
  let folder = await realpath(cwd).catch(() => undefined);
  while (folder !== undefined) {
    const holds = await stat(join(folder, ".git")).then(
      () => true,
      () => false,
    );
    if (holds) return folder;
    const above = dirname(folder);
    folder = above === folder ? undefined : above;
  }
  return undefined;
}

/** A repository that can be queried: each call is one git command. */
export type Repository = Readonly<{
  ok: true;
  ask: (...args: readonly string[]) => Promise<GitAnswer>;
  /** Runs a git command that changes something. It may take longer and print more than a command that reads. */
  work: (args: readonly string[], tree?: GitTree) => Promise<GitAnswer>;
}>;
/**
 * The work tree that a command is about; by default the repository's own. It is passed to git explicitly and never
 * looked up in the tree itself.
 */
export type GitTree = Readonly<{ folder?: string; gitDir?: string; env?: Readonly<Record<string, string>> }>;
/** Folders that git may read besides the repository: the home folder with the user's configuration; none by default. */
export type GitPlace = Readonly<{
  home?: string;
  /** Further home folders whose secret places may not be read. */
  homes?: readonly string[];
  signal?: AbortSignal;
  /** The paths in a folder that may not be read: their changes are not shown. */
  closedIn?(folder: string): Pick<ClosedInFolder, "isClosed">;
  /** True: queries get the longer timeout of changes, for callers that cannot continue without an answer. */
  isPatient?: boolean;
}>;
/** Why git failed, and its whole error output. */
export type GitFailure = Readonly<{ ok: false; reason: string; said?: string }>;
/** The output of git, possibly cut at the limit, or the reason of its failure. */
export type GitAnswer = Readonly<{ ok: true; text: string; bytes: Uint8Array; cut: boolean }> | GitFailure;

type Setting = readonly [key: string, value: string];

function git(
  top: string,
  args: readonly string[],
  { home, signal, isPatient = false }: GitPlace,
  settings: readonly Setting[] = [],
  tree?: GitTree,
): Promise<GitAnswer> {
  const folder = tree?.folder ?? top;
  const command = [
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    ...(tree?.gitDir === undefined ? [] : [`--git-dir=${tree.gitDir}`]),
    `--work-tree=${folder}`,
    ...args,
  ];
  const timeout = tree || isPatient ? WORK_LIMIT_MS : TIME_LIMIT_MS;
  const options = {
    cwd: folder,
    env: { ...environment(folder, [...NEUTRAL, ...settings], home), ...tree?.env },
    encoding: "buffer",
    timeout,
    killSignal: "SIGKILL",
    maxBuffer: tree ? WORK_BYTES : OUTPUT_BYTES,
    ...defined({ signal }),
  } as const;
  return new Promise((answer) => {
    let stuck: StuckReason | undefined;
    let ended = (): void => {};
    const child = execFile("git", command, options, (error, stdout, stderr) => {
      ended();
      if (stuck) return answer({ ok: false, reason: STUCK[stuck] });
      answer(
        error
          ? failure(error, { stdout, stderr, timeout })
          : { ok: true, text: decode(stdout), bytes: stdout, cut: false },
      );
    });
    if (child.pid !== undefined)
      ended = killStuck(child.pid, (why) => {
        stuck = why;
      });
  });
}

/** The message when git was stopped because it made no progress. */
const STUCK: Readonly<Record<StuckReason, string>> = {
  pipe: "git is blocked, because one of the files that it reads is a named pipe",
  other: "git did nothing for 30 s; its disk may be too slow, or not reachable",
};

const TIME_LIMIT_MS = 10_000;
const OUTPUT_BYTES = 51_200;
const WORK_LIMIT_MS = 120_000;
const WORK_BYTES = 64_000_000; // enough for the names of half a million files
const MOST_FILTERS = 200;
/** Scopes of keys in the repository's configuration, as opposed to the user's. */
const OWN: ReadonlySet<string> = new Set(["local", "worktree"]);
/** Matches a conditional include (`includeIf`): the listing does not follow it, so it could hide a filter. */
const CONDITION = /^includeif\./i;
const FILTER = /^filter\.(.+)\.(?:clean|smudge|process|required)$/s;

/**
 * The search path for git: system folders only, because a package script may have put folders of the project into PATH.
 */
const SEARCHED = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/opt/local/bin:/run/current-system/sw/bin";

/** Overrides the repository's configuration; each row disables a way to start a program or to change the output. */
const NEUTRAL: readonly Setting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", devNull],
  ["core.pager", "cat"],
  ["core.askPass", ""],
  ["core.sshCommand", "false"],
  ["core.quotePath", "true"],
  ["credential.helper", ""],
  ["protocol.allow", "never"],
  ["safe.bareRepository", "explicit"],
  ["diff.external", ""],
  ["diff.autoRefreshIndex", "false"],
  ["diff.orderFile", devNull],
  ["status.submoduleSummary", "false"],
  ["log.showSignature", "false"],
  ["log.mailmap", "false"],
  ["gpg.program", "false"],
  ["color.ui", "false"],
];

/**
 * The settings that disable a filter driver: an empty `process` overrides its other commands, and git ignores a failure
 * of a driver that is not required.
 */
function withoutFilter(name: string): Setting[] {
  return [
    [`filter.${name}.process`, ""],
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.required`, "false"],
  ];
}

/**
 * The complete environment of git; nothing is inherited. Settings are passed in variables, because there a key may
 * contain any character.
 */
function environment(top: string, settings: readonly Setting[], home: string | undefined): Record<string, string> {
  const env: Record<string, string> = {
    PATH: SEARCHED,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    ...(home === undefined ? { GIT_CONFIG_GLOBAL: devNull } : { HOME: home }),
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_CONFIG_COUNT: String(settings.length),
  };
  settings.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  });
  return env;
}

/** The files that the repository's configuration names and that git reads completely. */
async function namedFiles(
  keys: readonly Readonly<{ key: string }>[],
  ask: (...args: readonly string[]) => Promise<GitAnswer>,
): Promise<string[]> {
  const wanted = NAMED.filter((name) => keys.some(({ key }) => key === name));
  const answers = await Promise.all(wanted.map((name) => ask("config", "--type=path", "-z", "--get-all", name)));
  return answers.flatMap((answer) => (answer.ok ? answer.text.split("\0").filter((file) => file !== "") : []));
}

const NAMED = ["core.attributesfile", "core.excludesfile"];

/** The keys of the configuration, each with its scope. */
function keysIn(text: string): { scope: string; key: string }[] {
  const fields = text.split("\0");
  return fields.flatMap((scope, at) => (at % 2 === 0 && scope !== "" ? [{ scope, key: fields[at + 1] ?? "" }] : []));
}

type ExecError = Error & { code?: string | number | null; killed?: boolean };

type Said = Readonly<{ stdout: Buffer; stderr: Buffer; timeout: number }>;

function failure(error: ExecError, { stdout, stderr, timeout }: Said): GitAnswer {
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" && stdout.length > 0)
    return { ok: true, text: decode(stdout, true), bytes: stdout, cut: true };
  if (error.code === "ENOENT") return { ok: false, reason: "git was not found" };
  if (error.name === "AbortError") return { ok: false, reason: "cancelled" };
  if (error.killed === true) return { ok: false, reason: `git took longer than ${timeout / 1000} s` };
  const said = decode(stderr);
  return { ok: false, reason: complaint(said) ?? messageOf(error), ...(said !== "" && { said }) };
}

function complaint(stderr: string): string | undefined {
  if (stderr.includes("dubious ownership"))
    return "the repository belongs to another user, and git's safe.directory does not list it";
  return stderr
    .split("\n", 1)[0]
    ?.replace(/^(?:fatal|error): /, "")
    .trim();
}

/** Decodes bytes as UTF-8. If output was cut, an incomplete character at the end is dropped. */
function decode(bytes: Uint8Array, cut = false): string {
  return new TextDecoder().decode(bytes, { stream: cut });
}
