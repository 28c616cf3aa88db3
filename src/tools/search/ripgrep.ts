import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, lstat, realpath } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { openInside } from "../../runtime/files/open-contained.ts";
import { type Hit, type Query, unusable } from "./query.ts";

/**
 * Searches with ripgrep. ripgrep gets only arguments, no configuration file and no environment, and does not follow
 * symbolic links. Stopping early, an abort and an exception all end the process.
 *
 * ripgrep opens files by their paths. While it searches, another process can replace a folder by a link, so that a
 * match comes from a file outside. If a folder on the path of a file has changed since the search began, the file is
 * therefore opened, checked and searched once more.
 */
export async function* ripgrep(query: RipgrepQuery, signal: AbortSignal): AsyncGenerator<Hit> {
  const isSettled = settledBefore(Date.now() - CLOCK_MS, query.root.real);
  let last: Readonly<{ path: string; settled: boolean }> | undefined;
  for await (const hit of searched(query, { target: `./${query.start.path}` }, signal)) {
    const isNew = last?.path !== hit.path;
    if (last === undefined || isNew) last = { path: hit.path, settled: await isSettled(hit.path) };
    if (last.settled) yield hit;
    else if (isNew) yield* searchedAgain(query, hit.path, signal);
  }
}

/** File systems write times that are up to this much older than the clock says. */
const CLOCK_MS = 50;

/** A test for paths below a folder: nothing on the way is a link, and no folder on the way has changed since `time`. */
function settledBefore(time: number, top: string): (path: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isSettledFolder = (folder: string): Promise<boolean> => {
    const before = known.get(folder);
    if (before) return before;
    const settled = lstat(join(top, folder)).then(
      async (stats) =>
        stats.isDirectory() && stats.ctimeMs < time && (folder === "" || (await isSettledFolder(above(folder)))),
      () => false,
    );
    known.set(folder, settled);
    return settled;
  };
  return (path) => (process.platform === "win32" ? Promise.resolve(true) : isSettledFolder(above(path)));
}

const above = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Searches one file through its open descriptor, if it really is at this path. */
async function* searchedAgain(query: RipgrepQuery, path: string, signal: AbortSignal): AsyncGenerator<Hit> {
  const opened = await openInside(query.root, path).catch(() => undefined);
  if (opened === undefined) return;
  try {
    if (opened.kind !== "file" || opened.path !== path) return;
    const target = process.platform === "linux" ? "/proc/self/fd/3" : "/dev/fd/3";
    for await (const { line } of searched(query, { target, descriptor: opened.handle.fd }, signal))
      yield { path, line };
  } finally {
    await opened.handle.close();
  }
}

/** The target of a search: a path, or the open file that the program gets as descriptor 3. */
type Target = Readonly<{ target: string; descriptor?: number }>;

async function* searched(
  query: RipgrepQuery,
  { target, descriptor }: Target,
  signal: AbortSignal,
): AsyncGenerator<Hit> {
  const child = spawn(query.program, argumentsFor(query, target), {
    cwd: query.root.real,
    env: systemPart(query.env),
    stdio: ["ignore", "pipe", "pipe", ...(descriptor === undefined ? [] : [descriptor])],
    windowsHide: true,
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const ended = once(child, "close").then(
    ([code]) => code,
    () => undefined,
  );
  const complaint = collected(child.stderr);
  const kill = (): void => void child.kill("SIGKILL");
  const release = onAbort(signal, kill);
  try {
    yield* hitsIn(child.stdout);
    const code = await ended;
    signal.throwIfAborted();
    if (code === 2) throwIfBadPattern(complaint());
    else if (code !== 0 && code !== 1) throw unusable("ripgrep did not start or failed");
  } finally {
    release();
    kill();
    await ended;
  }
}

/** A query, the program that runs it, and whether ignore files in folders above the start apply. */
export type RipgrepQuery = Query & Readonly<{ program: string; goesUp: boolean }>;

/**
 * Finds an installed ripgrep, or the packaged ripgrep. Folders of PATH inside the workspace are skipped, since the
 * project controls them (package scripts put such a folder in front of PATH).
 */
export async function findRipgrep({ env, root }: Pick<Query, "env" | "root">): Promise<string | undefined> {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  for (const folder of (env.PATH ?? env.Path ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = await realpath(join(folder, name)).catch(() => undefined);
    if (program === undefined || folderContains(root.real, program) || folderContains(root.real, folder)) continue;
    if (await isProgram(program)) return program;
  }
  const packaged = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  return packaged !== undefined && (await isProgram(packaged)) ? packaged : undefined;
}

/** Options that are always passed: print only path and line number of each match, since the text is read separately. */
const ALWAYS = [
  "--no-config",
  "--color=never",
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--null",
  "--max-columns=1",
  "--no-max-columns-preview",
  "--no-messages",
  "--crlf",
  "--sort=path",
  "--hidden",
  "--no-require-git",
  "--no-ignore-dot",
  "--no-ignore-global",
  "--no-ignore-exclude",
  "--glob=!.git",
];

function argumentsFor({ pattern, ignoreCase, perFile, goesUp }: RipgrepQuery, target: string): string[] {
  return [
    ...ALWAYS,
    ...(goesUp ? [] : ["--no-ignore-parent"]),
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    `--max-count=${perFile}`,
    "-e",
    pattern,
    "--",
    target,
  ];
}

/** Parses records of path, NUL, line number, colon, and the rest of the line. */
async function* hitsIn(stdout: Readable): AsyncGenerator<Hit> {
  let rest = "";
  stdout.setEncoding("utf8");
  for await (const chunk of stdout) {
    rest += String(chunk);
    let start = 0;
    for (;;) {
      const middle = rest.indexOf("\0", start);
      const end = middle < 0 ? -1 : rest.indexOf("\n", middle);
      if (end < 0) break;
      const line = Number.parseInt(rest.slice(middle + 1, end), 10);
      if (Number.isSafeInteger(line)) yield { path: rest.slice(start, middle).replace(/^\.\//, ""), line };
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}

/** The beginning of stderr; errors of single files are suppressed. */
function collected(stderr: Readable): () => string {
  let text = "";
  stderr.setEncoding("utf8").on("data", (chunk: string) => {
    if (text.length < 2_000) text += chunk;
  });
  return () => text;
}

function throwIfBadPattern(complaint: string): void {
  const reason = /^error: (.+)$/m.exec(complaint)?.[1] ?? /regex.+/.exec(complaint)?.[0];
  if (reason !== undefined) throw unusable(reason);
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The environment of ripgrep. Windows needs SystemRoot to start a program; ripgrep needs no other variable. */
function systemPart({ SystemRoot }: Query["env"]): Record<string, string> {
  return SystemRoot === undefined ? {} : { SystemRoot };
}
