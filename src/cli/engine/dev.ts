import { join, resolve } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import { defined } from "../../core/text/defined.ts";
import { migrateDbos } from "../../engines/dbos/listen.ts";
import { INSTALL_ENGINE, loadDbos } from "../../engines/dbos/sdk.ts";
import { type Database, openDatabase } from "../../engines/postgres/database.ts";
import { loadDriver } from "../../engines/postgres/driver.ts";
import { migrate } from "../../engines/postgres/migrate.ts";
import { grantRoles } from "../../engines/roles.ts";
import { findPrograms } from "../../engines/server/programs.ts";
import { startDatabaseServer } from "../../engines/server/server.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";

/** The number of the advisory lock that a process holds while it is responsible for stopping the server. */
const SERVING_LOCK = 7_302_264;

/**
 * `subcrew engine dev`: runs a real Postgres server until the process gets a signal. If another process already runs a
 * server in the same folder, the command prints its address and ends.
 */
export async function serveDatabase({ data, port, json }: Flags): Promise<number> {
  await Promise.all([loadDriver(INSTALL_ENGINE), loadDbos()]); // fails early if a library is missing, before a server is started
  const folder = data === undefined ? ownFolder() : resolve(data);
  const path = process.env["PATH"] ?? "";
  const programs = await findPrograms({ path, unpackBelow: join(folder, "programs") });
  const stopping = nextSignal();
  const server = await startDatabaseServer({ programs, path, folder, ...defined({ port }) });
  if (server.isOurs) server.guard();
  const database = openDatabase(server.url);
  let serves = server.isOurs;
  let leave = (): void => {};
  try {
    const steps = await migrate(database);
    await migrateDbos(server.url);
    await grantRoles(database);
    const lock = await lockServing(database);
    serves = lock !== undefined;
    if (serves) server.guard();
    leave = lock ?? leave;
    const { url, isOurs } = server;
    if (json)
      process.stdout.write(`${jsonText({ url, port: server.port, data: folder, from: programs.from, steps })}\n`);
    else {
      process.stdout.write(`${url}\n`);
      process.stderr.write(
        [
          isOurs
            ? `Postgres (${programs.from}) runs; its data is in ${folder}.`
            : `Postgres runs already in ${folder}.`,
          "Start workers:  subcrew worker --engine URL",
          'Run an agent:   subcrew run --engine URL explore "..."',
          serves
            ? "Ctrl-C stops Postgres.\n"
            : "Another `subcrew engine dev` started Postgres, and stops it when that command ends.\n",
        ].join("\n"),
      );
    }
    return serves ? await stopping : 0;
  } finally {
    leave();
    await database.close();
    if (serves) await server.stop();
  }
}

/**
 * Takes the lock that makes this process responsible for stopping the server, and returns a function that releases it.
 * `undefined`: another living process holds the lock. The lock of a killed process is free, so this process takes over
 * the server of a killed process.
 */
async function lockServing({ pool }: Database): Promise<(() => void) | undefined> {
  const client = await (await pool()).connect();
  client.on("error", () => {}); // the server was stopped; the lock ended with it
  const { rows } = await client.query<{ held: boolean }>("select pg_try_advisory_lock($1) as held", [SERVING_LOCK]);
  if (rows[0]?.held) return () => client.release(true);
  client.release();
  return undefined;
}

/** The data folder. The server does not run as root, so its folder must not be below root's home. */
const ownFolder = (): string =>
  process.getuid?.() === 0 ? "/var/lib/subcrew/engine" : join(homes().state, "engine-server");

/** Waits for a signal and returns its exit code. Ctrl-C returns 0, because it is the normal way to end this command. */
function nextSignal(): Promise<number> {
  return new Promise((done) => {
    const alive = setInterval(() => {}, 60_000); // a signal handler alone does not keep a process alive
    const end = (code: number) => (): void => {
      clearInterval(alive);
      done(code);
    };
    process.on("SIGINT", end(0));
    process.on("SIGTERM", end(143));
    process.on("SIGHUP", end(129));
  });
}
