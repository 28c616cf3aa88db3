import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/engines/postgres/database.ts";
import { loadDriver } from "../../src/engines/postgres/driver.ts";
import { usePostgres } from "../support/postgres.ts";

const postgres = usePostgres(["max_connections=6", "superuser_reserved_connections=0", "max_wal_senders=0"]);
const opened: Database[] = [];

afterEach(async () => {
  if (!postgres.isMissing() && existsSync(data("standby.signal"))) promote(); // a failed test leaves this file behind
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

/** Opens a second connection, which looks like another process to the database. */
const open = (): Database => {
  const database = openDatabase(postgres.server().server.url, { connections: 1 });
  opened.push(database);
  return database;
};

/** The attempts that take longer than a process waits for an address that it never reached. */
const MANY = 8;
const SOME = 3;
/** Counts the lines in the server's log from now on. */
function listen(text: string): () => number {
  const count = (): number => readFileSync(join(postgres.server().folder, "server.log"), "utf8").split(text).length - 1;
  const before = count();
  return () => count() - before;
}
const atLeast = (n: number, said: () => number): Promise<void> =>
  expect.poll(said, { timeout: 60_000 }).toBeGreaterThanOrEqual(n);

const data = (name: string): string => join(postgres.server().folder, "data", name);
/** Restarts the server as the standby of a primary that cannot be reached. */
async function standBy(): Promise<void> {
  writeFileSync(data("standby.signal"), "");
  await postgres.server().server.crash();
}
/** Makes a standby the primary, as `pg_ctl promote` does. */
function promote(): void {
  writeFileSync(data("promote"), "");
  process.kill(Number(readFileSync(data("postmaster.pid"), "utf8").split("\n")[0]), "SIGUSR1");
}

test("every process waits for a database that is starting, also a process that never reached the database", async () => {
  const known = open();
  await known.query("alter system set hot_standby = off");
  await standBy();
  const refusals = listen("the database system is not accepting connections");
  const answers = Promise.all([known, open()].map((one) => one.query("select 1 as one")));
  await atLeast(2 * MANY, refusals);
  promote();
  expect(await answers).toEqual([[{ one: 1 }], [{ one: 1 }]]);
  await known.query("alter system reset hot_standby");
}, 120_000);

test("a write waits while the database is read-only, as after a failover", async () => {
  const one = open();
  await one.query("create table written (n integer)");
  await standBy();
  expect(await one.query("select pg_is_in_recovery() as reads")).toEqual([{ reads: true }]);
  const refusals = listen("cannot execute INSERT in a read-only transaction");
  const written = one.transaction(async (query) => {
    await query("insert into written values (1)");
    return query("insert into written values (2)");
  });
  await atLeast(SOME, refusals);
  promote();
  await written;
  expect(await one.query("select n from written order by n")).toEqual([{ n: 1 }, { n: 2 }]);
}, 120_000);

test("a process that lost its connection waits while others use all connections", async () => {
  const { Client } = await loadDriver();
  const one = open();
  const [own] = await one.query<{ pid: number }>("select pg_backend_pid() as pid");
  const client = async () => {
    const made = new Client({ connectionString: postgres.server().server.url });
    await made.connect();
    return made;
  };
  const others = [await client()];
  const [first] = others;
  await first!.query("select pg_terminate_backend($1, 5000)", [own!.pid]);
  const full = await (async () => {
    for (;;)
      try {
        others.push(await client());
      } catch (error) {
        return error;
      }
  })();
  expect(full).toMatchObject({ code: "53300" });
  const refusals = listen("sorry, too many clients already");
  const answer = one.query("select 1 as one");
  await atLeast(SOME, refusals);
  await Promise.all(others.map((other) => other.end()));
  expect(await answer).toEqual([{ one: 1 }]);
}, 120_000);

test("a statement is repeated when the server ends its session, and a transaction after a deadlock", async () => {
  const [one, other, judge] = [open(), open(), open()];
  const slow = one.query<{ done: number }>("select 1 as done from pg_sleep(2)");
  const asleep = (): Promise<{ pid: number }[]> =>
    judge.query("select pid from pg_stat_activity where wait_event = 'PgSleep'");
  await expect.poll(asleep).toHaveLength(1);
  const [found] = await asleep();
  await judge.query("select pg_terminate_backend($1, 5000)", [found!.pid]);
  expect(await slow).toEqual([{ done: 1 }]);

  await judge.query("create table if not exists both_rows (name text primary key, n integer)");
  await judge.query("insert into both_rows values ('a', 0), ('b', 0)");
  let met = 0;
  let bothHaveOne = (): void => {};
  const meeting = new Promise<void>((resolve) => (bothHaveOne = resolve));
  const add = (database: Database, names: readonly string[]): Promise<unknown> =>
    database.transaction(async (query) => {
      const [first, second] = names;
      await query("update both_rows set n = n + 1 where name = $1", [first]);
      if (++met === 2) bothHaveOne();
      await meeting;
      return query("update both_rows set n = n + 1 where name = $1", [second]);
    });
  const deadlocks = listen("deadlock detected");
  await Promise.all([add(one, ["a", "b"]), add(other, ["b", "a"])]);
  expect(deadlocks()).toBe(1);
  expect(await judge.query("select n from both_rows")).toEqual([{ n: 2 }, { n: 2 }]);
}, 120_000);
