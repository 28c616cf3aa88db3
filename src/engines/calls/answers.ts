import type { Answer } from "../../core/plan/gate.ts";
import type { Engine } from "../../core/task/engine.ts";
import { pause } from "../../runtime/async/cancel.ts";
import type { Database } from "../postgres/database.ts";

/** The notification channel on which answers to questions are announced. */
const CHANNEL = "sc_answers";

/** Stores questions and their answers in a table. The first answer that is written counts, from any process. */
export function engineAnswers(database: Database): Pick<Engine, "answer" | "give"> {
  /** Questions that this process is writing; an answer given in this process waits for the write. */
  const pending = new Map<string, Promise<unknown>>();
  const after = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const mine = (pending.get(key) ?? Promise.resolve()).then(work, work);
    pending.set(key, mine);
    const forget = (): void => void (pending.get(key) === mine && pending.delete(key));
    mine.then(forget, forget);
    return mine;
  };
  const open = (key: string): Promise<unknown> =>
    after(key, () =>
      database.query("insert into subcrew.answers (key) values ($1) on conflict (key) do nothing", [key]),
    );
  const read = async (key: string): Promise<Answer | undefined> => {
    const [row] = await database.query<{ answer: Answer | null }>("select answer from subcrew.answers where key = $1", [
      key,
    ]);
    if (!row) await open(key); // a process that lost the run withdrew the question, so it is opened again
    return row?.answer ?? undefined;
  };
  return {
    answer: async (key, signal) => {
      if (signal.aborted) return undefined;
      let bell = new AbortController();
      const stop = database.bells.listen(CHANNEL, (payload) => {
        if (payload === undefined || payload === key) bell.abort();
      });
      try {
        await open(key);
        while (!signal.aborted) {
          bell = new AbortController();
          const known = await read(key);
          if (known) return known;
          await pause(60_000, AbortSignal.any([bell.signal, signal]));
        }
        return undefined;
      } finally {
        stop();
        if (signal.aborted)
          await after(key, () =>
            database.query("delete from subcrew.answers where key = $1 and answer is null", [key]),
          ).catch(() => {});
      }
    },
    give: async (key, answer) => {
      const given = await after(key, () =>
        database.query(
          `with given as (update subcrew.answers set answer = $2 where key = $1 and answer is null returning 1)
           select pg_notify($3, $1) from given`,
          [key, JSON.stringify(answer), CHANNEL],
        ),
      );
      return given.length > 0;
    },
  };
}
