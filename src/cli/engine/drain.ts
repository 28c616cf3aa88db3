import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { PROCESSES_CHANNEL } from "../../engines/postgres/channel-name.ts";
import type { Flags } from "../base/flags.ts";
import { withEngine } from "./named-engine.ts";

/** The command `subcrew engine drain WORKER`. */
export async function drainWorker(word: string, flags: Flags): Promise<number> {
  return withEngine(flags, async (database) => {
    const found = await database.query<{ id: string }>(
      "select id from subcrew.processes where starts_with(id, $1) and role like '%work%' order by id",
      [word],
    );
    const [one, other] = found;
    if (!one || other)
      throw new CrewError(
        "BAD_INPUT",
        one ? `"${word}" means ${found.length} workers.` : `Unknown worker "${word}".`,
        one
          ? `Write more of the name: ${found.map(({ id }) => id).join(", ")}.`
          : "`subcrew engine status` lists the workers.",
      );
    await database.query(
      "with marked as (update subcrew.processes set draining = true where id = $1 returning 1) select pg_notify($2, $1) from marked",
      [one.id, PROCESSES_CHANNEL],
    );
    if (flags.json) process.stdout.write(`${jsonText({ worker: one.id, draining: true })}\n`);
    else
      process.stdout.write(
        `${one.id} takes no more tasks and ends when its tasks have ended or were returned to the queue.\n`,
      );
    return 0;
  });
}
