import { readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Database, openDatabase } from "../../src/engines/postgres/database.ts";
import { migrate } from "../../src/engines/postgres/migrate.ts";
import { findPrograms } from "../../src/engines/server/programs.ts";
import { type DatabaseServer, startDatabaseServer } from "../../src/engines/server/server.ts";

/** A separate Postgres for one test file, with the tables of the engine in as many databases as are requested. */
export type TestServer = Readonly<{
  server: DatabaseServer;
  /** The folder of the server, with its log. */
  folder: string;
  /** The address of a new, migrated database. */
  fresh(): Promise<string>;
  /** The address of a new, empty database. */
  empty(): Promise<string>;
  stop(): Promise<void>;
}>;

/**
 * Starts a server before the tests of a file and stops it after them. Where none can be started, every test of the file
 * is skipped with the reason.
 */
export function usePostgres(settings?: string[]): PostgresOfFile {
  let started: TestServer | string | undefined;
  beforeAll(async () => {
    started = await startPostgres(settings);
  }, 120_000);
  afterAll(async () => {
    if (typeof started === "object") await started.stop();
  }, 60_000);
  beforeEach((context) => {
    if (typeof started === "string") context.skip(started);
  });
  return {
    isMissing: () => typeof started !== "object",
    server: () => {
      if (typeof started !== "object") throw new Error(started ?? "Postgres has not been started yet.");
      return started;
    },
  };
}

export type PostgresOfFile = Readonly<{
  /** True where no server can be started; `beforeAll` and `afterAll` run there, too. */
  isMissing(): boolean;
  server(): TestServer;
}>;

/** Starts a server, or returns why that is not possible here. */
async function startPostgres(settings = ["max_connections=200"]): Promise<TestServer | string> {
  const folder = await mkdtemp(join(tmpdir(), "subcrew-postgres-"));
  const path = process.env["PATH"] ?? "";
  try {
    const programs = await findPrograms({ path, unpackBelow: join(tmpdir(), "subcrew-postgres") });
    const server = await startDatabaseServer({
      programs,
      path,
      folder,
      settings: ["fsync=off", ...settings],
    });
    process.once("disconnect", () => {
      const pid = Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGQUIT"); // the test runner was killed
      rmSync(folder, { recursive: true, force: true });
    });
    return testServer(server, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    return `Postgres cannot be started: ${error instanceof Error ? error.message : String(error)} Install one: apt-get install -y postgresql`;
  }
}

function testServer(server: DatabaseServer, folder: string): TestServer {
  const admin = openDatabase(server.url);
  let made = 0;
  const empty = async (): Promise<string> => {
    made += 1;
    const name = `test_${process.pid}_${made}`;
    await admin.query(`create database ${name}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  return {
    server,
    folder,
    empty,
    fresh: async () => {
      const url = await empty();
      await using(url, migrate);
      return url;
    },
    stop: async () => {
      await admin.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function using(url: string, work: (database: Database) => Promise<unknown>): Promise<void> {
  const database = openDatabase(url);
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
