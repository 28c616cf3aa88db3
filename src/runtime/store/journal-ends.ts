import { isLast, type KeptEvent } from "../../core/run/event.ts";
import { LINE_END } from "./journal-line.ts";
import { ANYWHERE, type JournalContents, RecordReader } from "./journal-records.ts";
import { journalPieces, readWidening, takeoversIn } from "./read-journal.ts";
import { isContinued, isLastOwner } from "./run-claim.ts";
import { Takeovers } from "./takeovers.ts";

/** Reads only the first event of a journal, unless another owner may have replaced it. */
export async function firstEvent(folder: string): Promise<KeptEvent | undefined> {
  const first = await readWidening(folder, "start", async (bytes, isWhole) => {
    const end = bytes.indexOf(LINE_END);
    return end < 0 && !isWhole ? "unknown" : readLine(bytes.subarray(0, end < 0 ? undefined : end + 1), isWhole);
  });
  const event = first?.events[0];
  if (!event || isLastOwner(folder, first.epoch)) return event;
  if (!(await takeoversIn(folder)).isVoid(event.seq, first.epoch)) return event;
  for await (const { events } of journalPieces(folder)) if (events[0]) return events[0];
  return undefined;
}

/**
 * The last complete event of a journal; `undefined` if the journal ends with damage. Only the end is decoded. The rest
 * is searched for takeovers, unless the claims say that the writer of the last record is the last owner. As long as a
 * new owner has not written a record, the end that the former owner recorded does not count: the run goes on.
 */
export async function lastEvent(folder: string): Promise<KeptEvent | undefined> {
  const last = await readWidening(folder, "end", async (bytes, isWhole) => {
    const found = lastIn(bytes, { isWhole });
    if (found === undefined || found === "unknown" || isLastOwner(folder, found.epoch)) return found;
    const takeovers = isWhole ? new Takeovers().scan(bytes) : await takeoversIn(folder);
    const goesOn = await isContinued(folder, takeovers.epoch);
    return lastIn(bytes, { isWhole, takeovers, accepts: (event) => !(goesOn && isLast(event)) });
  });
  return last?.events.at(-1);
}

type Search = Readonly<{ isWhole: boolean; takeovers?: Takeovers; accepts?: (event: KeptEvent) => boolean }>;

/** The last record in the bytes at the end of a journal; an incomplete record after it is ignored. */
export function lastIn(
  bytes: Buffer,
  { isWhole, takeovers, accepts = () => true }: Search,
): JournalContents | undefined | "unknown" {
  for (let end = bytes.length, start: number; end > 0; end = start) {
    start = bytes.lastIndexOf(LINE_END, end - 2) + 1;
    if (start === 0 && !isWhole) return "unknown";
    const line = readLine(bytes.subarray(start, end), end === bytes.length, takeovers);
    const last = line.events.at(-1);
    if (line.damage.length > 0) return undefined;
    if (last && accepts(last)) return line;
  }
  return undefined;
}

function readLine(line: Buffer, isEnd: boolean, takeovers?: Takeovers): JournalContents {
  const reader = new RecordReader({ before: ANYWHERE, takeovers });
  reader.push(line, isEnd);
  return reader.take();
}
