// @ts-check
import pg from "pg";

/**
 * The floor (a hand-written lower bound) for sending tasks to workers through Postgres: one table, an insert for each
 * task, a worker that takes the next row with SKIP LOCKED, and an update with its result.
 *
 * @param {string} url
 * @param {{ atOnce: number; outcome: object }} options
 */
export async function openFloor(url, { atOnce, outcome }) {
  const pool = new pg.Pool({ connectionString: url, max: 2 * atOnce });
  await pool.query(
    "create table if not exists floor (id text primary key, at bigint generated always as identity, state text not null default 'new', job json, result json)",
  );
  await pool.query("create index if not exists floor_new on floor (at) where state = 'new'");
  /** @type {Map<string, () => void>} */
  const waiting = new Map();
  const job = JSON.stringify({ prompt: "x".repeat(200) });
  const result = JSON.stringify(outcome);
  let over = false;
  const worker = async () => {
    while (!over) {
      const { rows } = await pool.query(
        `update floor set state = 'taken' where id = (
           select id from floor where state = 'new' order by at for update skip locked limit 1) returning id`,
      );
      const id = rows[0]?.id;
      if (id === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      else {
        await pool.query("update floor set state = 'done', result = $2 where id = $1", [id, result]);
        waiting.get(id)?.();
      }
    }
  };
  return {
    /**
     * Runs the workers only while `work` runs, because they would disturb the other measurements.
     *
     * @param {() => Promise<unknown>} work
     */
    during: async (work) => {
      over = false;
      const workers = Array.from({ length: atOnce }, worker);
      await work();
      over = true;
      await Promise.all(workers);
    },
    /** @param {string} id */
    task: async (id) => {
      const done = new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
      await pool.query("insert into floor (id, job) values ($1, $2)", [id, job]);
      await done;
      waiting.delete(id);
    },
    close: () => pool.end(),
  };
}
