import type { Outcome } from "../../core/outcome/outcome.ts";
import type { FromTask } from "../../runtime/channel/protocol.ts";
import type { Database } from "../postgres/database.ts";
import type { FactSource } from "../postgres/event-writer.ts";
import { heardMessages } from "./heard.ts";

/** A message of a worker that no coordinator has recorded. */
export type Leftover = Readonly<{ source: FactSource; message: FromTask }>;

/** Events from earlier epochs of a task that were not recorded in the run, in order, and the outcome, if any. */
export async function leftoversOf(
  database: Database,
  call: string,
): Promise<Readonly<{ messages: readonly Leftover[]; outcome: Outcome | undefined }>> {
  const rows = await database.query<{ epoch: string; number: string; body: unknown; recorded: string | null }>(
    `select f.epoch, f.number, f.body,
       (select max(e.fact) from subcrew.events e where e.call = f.call and e.call_epoch = f.epoch) as recorded
     from subcrew.facts f where f.call = $1 order by f.epoch, f.number`,
    [call],
  );
  const all = rows.flatMap(({ epoch, number, body, recorded }) =>
    heardMessages(body).flatMap((message, at) => {
      if (!message) return [];
      const source = { call, epoch: Number(epoch), fact: Number(number) + at };
      return [{ source, message, isRecorded: recorded !== null && source.fact <= Number(recorded) }];
    }),
  );
  const end = all.findLast(({ message }) => message.type === "ended")?.message;
  return {
    messages: all.filter(({ isRecorded }) => !isRecorded),
    outcome: end?.type === "ended" ? end.outcome : undefined,
  };
}
