import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import type { Programs } from "./programs.ts";

const run = promisify(execFile);

/** A Postgres server on this machine that this process started, or that was already running in its data folder. */
export type DatabaseServer = Readonly<{
  /** The address of the database, including its password. */
  url: string;
  port: number;
  /** False when the server was already running. */
  isOurs: boolean;
  /**
   * Starts a process that shuts the server down if this process dies without shutting it down, for example by SIGKILL.
   */
  guard(): void;
  /** Shuts the server down cleanly; running statements are rolled back. */
  stop(): Promise<void>;
  /** Kills the server, as a crash would, and starts it again on the same port. */
  crash(): Promise<void>;
}>;

export type DatabaseServerOptions = Readonly<{
  programs: Programs;
  /** The search path for the Postgres programs (`PATH`). */
  path: string;
  /** The folder for the server's data and password. */
  folder: string;
  /** The port; by default the last port of this folder, or a free port. */
  port?: number;
  /** Settings of the database server, as `name=value`. */
  settings?: readonly string[];
}>;

const DATABASE = "subcrew";

/**
 * Waits for a line from the process that serves. If that process closes its end of the pipe without a line, it has
 * died.
 */
const WATCH = 'read -r line || exec "$0" stop -D "$1" -m fast -w -t 60';

/** Starts a Postgres that listens on the loopback address and accepts only the password that subcrew generated. */
export async function startDatabaseServer({
  programs,
  path,
  folder,
  port,
  settings = [],
}: DatabaseServerOptions): Promise<DatabaseServer> {
  const user = await serverUser();
  const data = join(folder, "data");
  const how = {
    cwd: folder,
    env: { PATH: path, LC_ALL: "C", TZ: "UTC" },
    ...(user && { uid: user.uid, gid: user.gid }),
  };
  const program = (name: string, args: readonly string[]): Promise<unknown> =>
    run(join(programs.folder, name), [...args], how);
  await mkdir(data, { recursive: true });
  if (user) await demandEntry(folder, user);
  if (user) for (const place of [folder, data]) await chown(place, user.uid, user.gid);
  for (const place of [folder, data]) await chmod(place, 0o700);
  const secret = join(folder, "password");
  if (!existsSync(join(data, "PG_VERSION"))) {
    await writeFile(secret, randomBytes(18).toString("base64url"), { mode: 0o600 });
    if (user) await chown(secret, user.uid, user.gid);
    await program("initdb", [
      "-D",
      data,
      "-U",
      DATABASE,
      "-A",
      "scram-sha-256",
      "--pwfile",
      secret,
      "-E",
      "UTF8",
      "--no-sync",
    ]).catch((error: unknown) => report("could not be set up", error));
  }
  const password = (await readRegularText(secret)).trim();
  const known = await runningPort(data);
  const isOurs = known === undefined;
  const chosen = known ?? port ?? (await lastPort(data)) ?? (await freePort());
  const flags = [`port=${chosen}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
  const start = (): Promise<unknown> =>
    program("pg_ctl", [
      "start",
      "-D",
      data,
      "-w",
      "-t",
      "60",
      "-l",
      join(folder, "server.log"),
      "-o",
      flags.map((flag) => `-c ${flag}`).join(" "),
    ]).catch((error: unknown) => report("did not start", error, join(folder, "server.log")));
  if (isOurs) await start();
  const url = `postgres://${DATABASE}:${password}@127.0.0.1:${chosen}/postgres`;
  let watching: ChildProcess | undefined;
  return {
    url,
    port: chosen,
    isOurs,
    guard: () => {
      if (watching) return;
      const args = ["-c", WATCH, join(programs.folder, "pg_ctl"), data];
      watching = spawn("/bin/sh", args, { ...how, detached: true, stdio: ["pipe", "ignore", "ignore"] });
      watching.on("error", () => {}); // without it the next `engine dev` in the folder takes the server over
      watching.stdin?.on("error", () => {});
      watching.unref();
    },
    stop: async () => {
      await program("pg_ctl", ["stop", "-D", data, "-m", "fast", "-w", "-t", "60"]).catch(() => {});
      watching?.stdin?.end("stopped\n");
    },
    crash: async () => {
      await program("pg_ctl", ["stop", "-D", data, "-m", "immediate", "-w", "-t", "60"]).catch(() => {});
      await start();
    },
  };
}

/**
 * The user for the server, because Postgres refuses to run as root: the user that the system's Postgres package
 * created, or `nobody`.
 */
async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readRegularText("/etc/passwd").catch(() => "")).split("\n").map((line) => line.split(":"));
  const found = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!found)
    throw new CrewError(
      "ENGINE_UNREACHABLE",
      "Postgres cannot be started as root.",
      "Run this command as an ordinary user.",
    );
  return { name: found[0] ?? "", uid: Number(found[2]), gid: Number(found[3]) };
}

type ServerUser = Readonly<{ name: string; uid: number; gid: number }>;

/** Throws when the user of the server may not enter a folder above the data folder. */
async function demandEntry(folder: string, { name, uid, gid }: ServerUser): Promise<void> {
  for (let place = dirname(folder); ; place = dirname(place)) {
    const found = await stat(place);
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0)
      throw new CrewError(
        "ENGINE_UNREACHABLE",
        `Postgres does not run as root but as the user "${name}", who may not enter the folder ${place}.`,
        "Name a folder that this user can reach with --data DIR, or run this command as an ordinary user.",
      );
    if (place === dirname(place)) return;
  }
}

/** The port of the server that runs in a data folder. */
async function runningPort(data: string): Promise<number | undefined> {
  const [pid, , , port] = (await readRegularText(join(data, "postmaster.pid")).catch(() => "")).split("\n");
  if (!Number(pid)) return undefined;
  try {
    process.kill(Number(pid), 0);
    return Number(port) || undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? Number(port) || undefined : undefined;
  }
}

/** The last port of the server of a data folder, if it is free, so that addresses that users noted stay valid. */
async function lastPort(data: string): Promise<number | undefined> {
  const last = /\bport=(\d+)/.exec(await readRegularText(join(data, "postmaster.opts")).catch(() => ""))?.[1];
  return last !== undefined && (await isFree(Number(last))) ? Number(last) : undefined;
}

/** A free port below the range that the system assigns automatically. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + (randomBytes(2).readUInt16BE(0) % 12_000);
    if (await isFree(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

/** Throws an error with the output of a failed Postgres program. */
async function report(what: string, error: unknown, log?: string): Promise<never> {
  const said = log === undefined ? "" : await readRegularText(log).catch(() => "");
  const { stderr = "" } = error as { stderr?: string };
  const line = (stderr.trim() || said.trim() || messageOf(error)).split("\n").slice(-3).join(" ");
  const hint = "Look at the log of the database, or name another database with --engine URL.";
  throw new CrewError("ENGINE_UNREACHABLE", `Postgres ${what}: ${line}`, hint, { cause: error });
}
