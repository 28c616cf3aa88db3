import { finishCommandRecord, readCommandRecord, removeCommandRecord } from "./runtime/commands/command-record.ts";
import { finishQuarantine } from "./runtime/commands/finish-quarantine.ts";

/** What the watchdog of a command runs when the process that ran the command was killed: sets aside what it made. */
const file = process.argv[2] ?? "";
const record = await readCommandRecord(file);
if (record && !record.done) {
  const done = await finishQuarantine(record);
  if (done.length > 0) await finishCommandRecord(file, record, done);
  else removeCommandRecord(file);
}
