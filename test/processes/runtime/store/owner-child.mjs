// Claims the runs that it reads from standard input, writes to those that it gets, and releases them on request.
import { createInterface } from "node:readline";
import { openJournal } from "../../../../dist/runtime/store/journal.js";

const say = (word) => process.stdout.write(`${word}\n`);
let held;
say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "done") {
    await held?.close();
    held = undefined;
    say("released");
    continue;
  }
  try {
    held = await openJournal(line, { kept: () => {}, lost: () => {} });
    for (const seq of [2, 3])
      held.append({ seq, run: "run_1", path: "", at: 1, type: "note", text: String(process.pid) });
    await held.durable();
    say("won");
  } catch (error) {
    say(error.code ?? String(error));
  }
}
