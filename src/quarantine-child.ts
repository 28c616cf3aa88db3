import { finishCommandRecord, readCommandRecord, removeCommandRecord } from "./runtime/commands/command-record.ts";
import { finishQuarantine } from "./runtime/commands/finish-quarantine.ts";

/**
 * Started by the watchdog when a process that ran commands was killed: quarantines the protected files that the
 * commands created.
 */
for (const file of process.argv.slice(2)) {
  const record = await readCommandRecord(file);
  if (record === undefined || record.done) continue;
  const done = await finishQuarantine(record);
  if (done.length > 0) await finishCommandRecord(file, record, done);
  else removeCommandRecord(file);
}
