import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = join(import.meta.dirname, "..", ".cache", "needs");

/** Programs that a test can need in addition to npm packages. */
export type Name = "bwrap" | "postgres" | "chromium" | "tmux" | "strace" | "faketime";

/** The program to start, or the reason why there is none and the command that installs it. */
export type Need = { readonly path: string; readonly missing?: never } | { readonly missing: string };

type Row = {
  readonly what: string;
  readonly packages: readonly string[];
  find(): string | undefined;
  /** Throws when the program exists and cannot work on this machine. */
  probe(path: string): Promise<unknown>;
};

const needed: Readonly<Record<Name, Row>> = {
  bwrap: {
    what: "bubblewrap",
    packages: ["bubblewrap"],
    find: () => onPath("bwrap"),
    probe: (path) => run(path, ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]),
  },
  postgres: {
    what: "PostgreSQL",
    packages: ["postgresql"],
    find: () => onPath("postgres") ?? newestPostgres(),
    probe: (path) => run(path, ["--version"]),
  },
  tmux: {
    what: "tmux",
    packages: ["tmux"],
    find: () => onPath("tmux"),
    probe: (path) => run(path, ["-V"]),
  },
  strace: {
    what: "strace",
    packages: ["strace"],
    find: () => onPath("strace"),
    probe: (path) => run(path, ["-f", "-o", "/dev/null", "true"]),
  },
  faketime: {
    what: "faketime",
    packages: ["faketime"],
    find: () => onPath("faketime"),
    probe: (path) => run(path, ["-f", "+1h", "true"]),
  },
  chromium: {
    what: "Chromium",
    packages: ["chromium"],
    find: () => onPath("chromium", "chromium-browser", "google-chrome"),
    probe: (path) => run(path, ["--version"]),
  },
};

/**
 * Finds a program, and installs it first when that is possible (root and apt). A test that gets `missing` skips with
 * it: `if (bwrap.missing !== undefined) ctx.skip(bwrap.missing)`; `npm test` prints the reasons at its end. An install
 * can take a minute: call this in `beforeAll` with {@link needsTimeout}.
 */
export async function needs(name: Name): Promise<Need> {
  const row = needed[name];
  const failure = row.find() === undefined ? await installOnce(name, row) : undefined;
  const path = row.find();
  if (path === undefined)
    return { missing: `${row.what} is not installed (${failure ?? "apt succeeded without it"}): ${command(row)}` };
  try {
    await row.probe(path);
    return { path };
  } catch (error) {
    return { missing: `${row.what} is installed and does not work here: ${reason(error)}` };
  }
}

export const needsTimeout = 300_000;

const command = ({ packages }: Row): string => `apt-get install -y --no-install-recommends ${packages.join(" ")}`;

/**
 * Test files run in parallel and apt allows one process at a time: the first one installs, the others wait for its
 * result.
 */
async function installOnce(name: Name, row: Row): Promise<string | undefined> {
  if (process.platform !== "linux" || onPath("apt-get") === undefined) return "there is no apt here";
  if (process.getuid?.() !== 0) return "installing needs root";
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, "apt.lock");
  const answer = join(cache, `${name}.failed`);
  await take(lock);
  try {
    if (row.find() !== undefined) return undefined;
    if (existsSync(answer) && Date.now() - statSync(answer).mtimeMs < 10 * 60_000) return readFileSync(answer, "utf8");
    rmSync(answer, { force: true });
    const failure = await aptInstall(row.packages);
    if (failure !== undefined) writeFileSync(answer, failure);
    return failure;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** How long another process may hold a lock of apt: a system update, or a second copy of these tests. */
const LOCKED_MS = 240_000;

async function aptInstall(packages: readonly string[]): Promise<string | undefined> {
  // Run level 1 prevents that a newly installed database server is started as a service.
  const options = {
    env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
    timeout: needsTimeout,
  };
  const until = performance.now() + LOCKED_MS;
  const apt = async (...args: string[]): Promise<void> => {
    for (;;) {
      try {
        await run("apt-get", args, options);
        return;
      } catch (error) {
        const isLocked = /Could not get lock|Unable to (?:acquire|lock)/.test(
          (error as { stderr?: string }).stderr ?? "",
        );
        if (!isLocked || performance.now() > until) throw error;
        await sleep(1_000);
      }
    }
  };
  const install = (): Promise<void> => apt("install", "-y", "--no-install-recommends", ...packages);
  try {
    await install().catch(async () => {
      await apt("update"); // a machine without package lists knows no packages
      await install();
    });
    return undefined;
  } catch (error) {
    return `apt failed: ${reason(error)}`;
  }
}

async function take(lock: string): Promise<void> {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      return;
    } catch {
      if (!ownerLives(lock)) rmSync(lock, { force: true });
      await sleep(100);
    }
  }
}

function ownerLives(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > 2 * needsTimeout) return false;
    const pid = Number(readFileSync(lock, "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return true; // a lock without a pid yet (0) also counts as held
  } catch {
    return false;
  }
}

function onPath(...names: string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(executable);
}

function newestPostgres(): string | undefined {
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) return undefined;
  const newestFirst = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => join(versions, version, "bin", "postgres")).find(executable);
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function reason(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  return (stderr?.trim() || message || String(error)).split("\n").at(-1)!;
}
