import { finishCommandRecord, readCommandRecord, removeCommandRecord } from "./runtime/commands/command-record.ts";
import { finishQuarantine } from "./runtime/commands/finish-quarantine.ts";

/** Started by the watchdog of a command when the process that ran it was killed: quarantines the protected files it made. */
const file = process.argv[2] ?? "";
const record = await readCommandRecord(file);
if (record && !record.done) {
  const done = await finishQuarantine(record);
  if (done.length > 0) await finishCommandRecord(file, record, done);
  else await removeCommandRecord(file);
}
