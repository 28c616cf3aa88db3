import {
  type JournalContents,
  type ReadBefore,
  salvageRecords,
  undamaged,
} from "../../src/runtime/store/journal-records.ts";

/** Reads the bytes of a journal, or those appended after `before`, as a resume does: damage throws. */
export function readRecords(bytes: Buffer, folder: string, before?: ReadBefore): JournalContents {
  return undamaged(salvageRecords(bytes, before), folder, (before?.offset ?? 0) + bytes.length);
}
