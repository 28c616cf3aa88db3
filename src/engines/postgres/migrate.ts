import { CrewError } from "../../core/schema/error.ts";
import type { Database, RunStatement } from "./database.ts";
import { SCHEMA } from "./engine-url.ts";
import { migrations } from "./migrations.ts";

/** What is in the database, and what this version of subcrew knows. */
export type SchemaState = Readonly<{ applied: number; known: number }>;

/** The number of the advisory lock that lets one process migrate at a time. */
const MIGRATION_LOCK = 7_302_261;

/** Brings the schema up to date; resolves with the names of the steps that were applied now. */
export async function migrate(database: Database): Promise<readonly string[]> {
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await query("set local lock_timeout = '5s'"); // a step that cannot get its lock must not stop running workers
    await query(`create schema if not exists ${SCHEMA}`);
    await query(`set local search_path to ${SCHEMA}`);
    await query(
      "create table if not exists migrations (number integer primary key, name text not null, at timestamptz not null default now())",
    );
    const applied = await appliedIn(query);
    const missing = migrations.slice(applied);
    for (const [at, { name, sql }] of missing.entries()) {
      await query(sql);
      await query("insert into migrations (number, name) values ($1, $2)", [applied + at + 1, name]);
    }
    return missing.map(({ name }) => name);
  });
}

/** Looks at the schema without changing it. */
export async function schemaState(database: Database): Promise<SchemaState> {
  const [found] = await database.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    `${SCHEMA}.migrations`,
  ]);
  const [row] = found?.there
    ? await database.query<{ applied: number }>(
        `select coalesce(max(number), 0)::integer as applied from ${SCHEMA}.migrations`,
      )
    : [];
  return { applied: row?.applied ?? 0, known: migrations.length };
}

/** Throws unless the schema has every step that this version needs. A newer schema is fine: steps only add. */
export async function demandSchema(database: Database): Promise<void> {
  const { applied, known } = await schemaState(database);
  if (applied >= known) return;
  throw new CrewError(
    "ENGINE_OUTDATED",
    applied === 0
      ? `The database at ${database.shown} has no tables of subcrew.`
      : `The tables at ${database.shown} are older than this version of subcrew (step ${applied} of ${known}).`,
    "Run `subcrew engine migrate --engine URL` with a role that may create tables.",
  );
}

async function appliedIn(query: RunStatement): Promise<number> {
  const [row] = await query<{ applied: number }>("select coalesce(max(number), 0)::integer as applied from migrations");
  return row?.applied ?? 0;
}
