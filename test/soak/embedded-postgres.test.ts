import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openDatabase } from "../../src/engines/postgres/database.ts";
import { migrate } from "../../src/engines/postgres/migrate.ts";
import { unpackEmbedded } from "../../src/engines/server/embedded.ts";
import { startDatabaseServer } from "../../src/engines/server/server.ts";

const folder = mkdtempSync(join(tmpdir(), "subcrew-embedded-"));
// if root runs this test, the server runs as another user, who must be able to enter the folder
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;

const serve = async (below: string): Promise<string> => {
  const programs = { folder: await unpackEmbedded(join(folder, "programs")), from: "npm package" as const };
  const path = "/usr/bin:/bin";
  const server = await startDatabaseServer({ programs, path, folder: join(folder, below) });
  try {
    const database = openDatabase(server.url);
    await migrate(database);
    const [row] = await database.query<{ version: string }>("select version()");
    await server.crash();
    expect(await database.query("select count(*)::integer as n from subcrew.runs")).toEqual([{ n: 0 }]);
    await database.close();
    return row?.version ?? "";
  } finally {
    await server.stop();
  }
};

test("the Postgres of the npm package serves the tables, also after a crash", async () => {
  expect(await serve("own")).toMatch(/^PostgreSQL 18/);
}, 120_000);

test("an ordinary user starts the same programs", async ({ skip }) => {
  if (!isRoot) return skip("this is an ordinary user already");
  const bin = await unpackEmbedded(join(folder, "programs"));
  const data = join(folder, "ordinary");
  const as = (...args: string[]): string =>
    execFileSync("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", ...args], {
      encoding: "utf8",
      cwd: "/",
    });
  execFileSync("install", ["-d", "-o", "65534", "-m", "700", data]);
  as(join(bin, "initdb"), "-D", data, "-U", "me", "-A", "trust", "--no-sync");
  as(
    join(bin, "pg_ctl"),
    "start",
    "-D",
    data,
    "-w",
    "-l",
    join(data, "log"),
    "-o",
    "-c listen_addresses= -c unix_socket_directories=" + data,
  );
  expect(as(join(bin, "pg_ctl"), "status", "-D", data)).toContain("server is running");
  as(join(bin, "pg_ctl"), "stop", "-D", data, "-m", "fast", "-w");
}, 120_000);
