import { appendFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { JOURNAL_FILE } from "../../../../src/runtime/store/layout.ts";
import { encodeLine } from "../../../support/encode-line.ts";
import { type Place, place, script } from "../../command.ts";

const NOTES = 5_000;
/** The journal is read once; everything else that is read is less than half of it. */
const READINGS = 1.5;

/** How many bytes the command read until its end, as the system counts them. */
async function read(at: Place, args: readonly string[], ends = 0): Promise<number> {
  const [hook, counted] = [join(at.workspace, "count.mjs"), join(at.workspace, "io")];
  const { code, stderr } = await at.run(args, { env: { NODE_OPTIONS: `--import ${hook}`, COUNTED: counted } });
  expect(code, stderr).toBe(ends);
  return Number(/rchar: (\d+)/.exec(readFileSync(counted, "utf8"))?.[1]);
}

test("resuming a run, or continuing one of its tasks, reads its journal once", async ({ skip }) => {
  if (process.platform !== "linux") return skip("only Linux counts what a process reads");
  const at = place({
    "count.mjs": count,
    "a.json": script({ calls: [{ name: "list_files", input: {} }] }, { text: "done", delayMs: 60 }),
  });
  const args = ["run", "general", "x", "--model", "scripted:a.json", "--json"];
  const start = async (): Promise<string> => {
    const known = names(at);
    const killed = await at.run(args, { env: { SUBCREW_FAULT: "kill@journal.synced:2" } });
    expect(killed.signal).toBe("SIGKILL");
    return names(at).find((id) => !known.includes(id))!;
  };
  const short = await read(at, ["resume", await start()]);
  const long = await start();
  const file = join(at.home, "state", "runs", long, JOURNAL_FILE);
  const { events, epoch } = await readJournal(join(file, ".."));
  const notes = Array.from({ length: NOTES }, (_, number): KeptEvent => {
    const seq = events.length + number + 1;
    return { seq, run: long, path: "general", at: seq, type: "note", text: "x".repeat(300) };
  });
  appendFileSync(file, notes.map((note) => encodeLine(note, epoch)).join(""));
  const { size } = statSync(file);
  const more = (await read(at, ["resume", long])) - short;
  expect(more).toBeGreaterThan(0.9 * size);
  expect(more).toBeLessThan(READINGS * size);

  // The script has no more turns, so the new task fails; its conversation was read before.
  const ask = (run: string): readonly string[] => ["resume", run, "more"];
  const little = await read(at, ask(names(at).find((id) => id !== long)!), 1);
  const continued = (await read(at, ask(long), 1)) - little;
  expect(continued).toBeGreaterThan(0.9 * size);
  expect(continued).toBeLessThan(READINGS * size);
});

/** Records the counters of the system. */
const count = `import { readFileSync, writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync(process.env.COUNTED, readFileSync("/proc/self/io")));
`;

const names = (at: Place): string[] => {
  try {
    return readdirSync(join(at.home, "state", "runs"));
  } catch {
    return [];
  }
};
