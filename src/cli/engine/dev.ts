import { join, resolve } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import { defined } from "../../core/text/defined.ts";
import { migrateDbos } from "../../engines/dbos/listen.ts";
import { openDatabase } from "../../engines/postgres/database.ts";
import { migrate } from "../../engines/postgres/migrate.ts";
import { grantRoles } from "../../engines/roles.ts";
import { findPrograms } from "../../engines/server/programs.ts";
import { startDatabaseServer } from "../../engines/server/server.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";

/** `subcrew engine dev`: runs a real Postgres server until the process gets a signal. */
export async function serveDatabase({ data, port, json }: Flags): Promise<number> {
  const folder = data === undefined ? ownFolder() : resolve(data);
  const path = process.env["PATH"] ?? "";
  const programs = await findPrograms({ path, unpackBelow: join(folder, "programs") });
  const stopping = nextSignal();
  const server = await startDatabaseServer({ programs, path, folder, ...defined({ port }) });
  try {
    const database = openDatabase(server.url);
    const steps = await migrate(database);
    await migrateDbos(server.url);
    await grantRoles(database);
    await database.close();
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
          'Run something:  subcrew run --engine URL explore "..."',
          "Ctrl-C stops it.\n",
        ].join("\n"),
      );
    }
    return await stopping;
  } finally {
    await server.stop();
  }
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
