import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJournal } from "../../src/runtime/journal.ts";
import { place, script, type Ended, type Place } from "../cli/command.ts";

const append = { name: "memory_append", input: { key: "witness", text: "x" } };
const agent = (tools: string): string => `---\nname: careful\ndescription: reads\ntools: ${tools}\n---\nRead only.\n`;
const files = {
  ".subcrew/agents/careful.md": agent("[current_time]"),
  "a.json": script({ calls: [{ name: "current_time", input: {} }] }, { calls: [append] }, { calls: [append] }, "done"),
};
const run = ["run", "careful", "x", "--model", "scripted:a.json", "--trust", "--json"];
const runs = (at: Place): string => join(at.home, "state", "runs");
const first = (at: Place): string => readdirSync(runs(at))[0]!;

/** What was refused, and that nothing of it was done. */
async function refusals(at: Place, id: string, ended: Ended): Promise<number> {
  const { events } = await readJournal(join(runs(at), id));
  expect(
    events.some((event) => event.type === "tool.started" && event.tool === "memory_append"),
    ended.stderr,
  ).toBe(false);
  expect(readdirSync(join(at.home, "state"))).not.toContain("memory");
  return events.filter((event) => event.type === "tool.denied" && event.tool === "memory_append").length;
}

test.for([
  ["after a kill and a resume", undefined],
  ["also when its file allows it by now", agent("[current_time, memory_append]")],
] as const)("a forbidden tool stays forbidden %s", async ([, rewritten]) => {
  for (const fault of ["kill@journal.written:2", "kill@journal.synced:2", "kill@journal.synced:3"]) {
    const at = place(files);
    const killed = await at.run(run, { env: { SUBCREW_FAULT: fault } });
    expect(killed.signal, `${fault}: ${killed.stdout}`).toBe("SIGKILL");
    if (rewritten !== undefined) writeFileSync(join(at.workspace, ".subcrew/agents/careful.md"), rewritten);
    const again = await at.run(["resume", first(at), "--trust", "--json"]);
    expect(again.code, again.stderr).toBe(0);
    expect(await refusals(at, first(at), again)).toBe(2);
  }
});

test("a forbidden tool stays forbidden after a takeover from an owner that is only stopped in time", async () => {
  const at = place(files);
  const held = at.start(run, { env: { SUBCREW_FAULT: "stop@journal.write:3" } });
  await held.until("turn.ended");
  await new Promise((resolve) => setTimeout(resolve, 200));
  held.child.kill("SIGKILL");
  await held.ended;
  const again = await at.run(["resume", first(at), "--trust", "--json"]);
  expect(again.code, again.stderr).toBe(0);
  expect(await refusals(at, first(at), again)).toBe(2);
});
