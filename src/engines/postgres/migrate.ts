import { CrewError } from "../../core/schema/error.ts";
import type { Database, RunStatement } from "./database.ts";
import { SCHEMA } from "./engine-url.ts";
import { migrations } from "./migrations.ts";

/** The migrations in the database, and the migrations that this version of subcrew knows. */
export type SchemaState = Readonly<{ applied: number; known: number; needs: number }>;

/** The number of the advisory lock that lets only one process at a time migrate. */
const MIGRATION_LOCK = 7_302_261;

/** Applies the migrations that the database lacks; resolves with their names. */
export async function migrate(database: Database, steps = migrations): Promise<readonly string[]> {
  return database.transaction(async (query) => {
    await query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await query("set local lock_timeout = '5s'"); // a migration that waits for a lock must not block running workers
    await query(`create schema if not exists ${SCHEMA}`);
    await query(`set local search_path to ${SCHEMA}`);
    await query(
      "create table if not exists migrations (number integer primary key, name text not null, at timestamptz not null default now())",
    );
    await query("alter table migrations add column if not exists needs integer not null default 0");
    const applied = await appliedIn(query);
    if (applied > steps.length) throw newer(database, { applied, known: steps.length });
    const missing = steps.slice(applied);
    for (const [at, { name, sql, needs = 0 }] of missing.entries()) {
      await query(sql);
      await query("insert into migrations (number, name, needs) values ($1, $2, $3)", [applied + at + 1, name, needs]);
    }
    return missing.map(({ name }) => name);
  });
}

/** Reads the state of the schema without changing it. */
export async function schemaState(database: Database): Promise<SchemaState> {
  const [found] = await database.query<{ there: boolean }>("select to_regclass($1) is not null as there", [
    `${SCHEMA}.migrations`,
  ]);
  const [row] = found?.there
    ? await database.query<{ applied: number; needs: number }>(
        `select coalesce(max(number), 0)::integer as applied,
           coalesce(max((to_jsonb(m) ->> 'needs')::integer), 0)::integer as needs
         from ${SCHEMA}.migrations m`,
      )
    : [];
  return { applied: row?.applied ?? 0, known: migrations.length, needs: row?.needs ?? 0 };
}

/**
 * Throws unless the schema has every migration that this version needs. A newer schema is accepted, because migrations
 * only add tables and columns, unless one of them requires newer processes.
 */
export async function demandSchema(database: Database): Promise<void> {
  const { applied, known, needs } = await schemaState(database);
  if (needs > known) throw newer(database, { applied, known });
  if (applied >= known) return;
  throw new CrewError(
    "ENGINE_OUTDATED",
    applied === 0
      ? `The database at ${database.shown} has no tables of subcrew.`
      : `The tables at ${database.shown} are older than this version of subcrew (step ${applied} of ${known}).`,
    "Run `subcrew engine migrate --engine URL` with a role that may create tables.",
  );
}

const newer = ({ shown }: Database, { applied, known }: Pick<SchemaState, "applied" | "known">): CrewError =>
  new CrewError(
    "ENGINE_OUTDATED",
    `The tables at ${shown} are newer than this version of subcrew (step ${applied}, this version knows ${known}).`,
    "Update subcrew on this machine: npm install -g subcrew.",
  );

async function appliedIn(query: RunStatement): Promise<number> {
  const [row] = await query<{ applied: number }>("select coalesce(max(number), 0)::integer as applied from migrations");
  return row?.applied ?? 0;
}
