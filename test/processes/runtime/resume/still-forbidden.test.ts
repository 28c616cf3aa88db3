import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { type Ended, type Place, place, script } from "../../command.ts";

const append = { name: "memory_append", input: { key: "witness", text: "x" } };
const agent = (tools: string): string => `---\nname: careful\ndescription: reads\ntools: ${tools}\n---\nRead only.\n`;
const files = {
  ".subcrew/agents/careful.md": agent("[current_time]"),
  "a.json": script(
    { calls: [{ name: "current_time", input: {} }] },
    // Slow turns are recorded one by one; faster ones share a write.
    ...[{ calls: [append] }, { calls: [append] }, { text: "done" }].map((turn) => ({ ...turn, delayMs: 60 })),
  ),
};
const run = ["run", "careful", "x", "--model", "scripted:a.json", "--trust", "--json"];
const runs = (at: Place): string => join(at.home, "state", "runs");
const first = (at: Place): string => readdirSync(runs(at))[0]!;

/** The refused calls, none of which was executed. */
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
] as const)("RES-09: a forbidden tool stays forbidden %s", async ([, rewritten]) => {
  for (const fault of ["kill@journal.written:2", "kill@journal.synced:2"]) {
    const at = place(files);
    const killed = await at.run(run, { env: { SUBCREW_FAULT: fault } });
    expect(killed.signal, `${fault}: ${killed.stdout}`).toBe("SIGKILL");
    if (rewritten !== undefined) writeFileSync(join(at.workspace, ".subcrew/agents/careful.md"), rewritten);
    const again = await at.run(["resume", first(at), "--trust", "--json"]);
    expect(again.code, again.stderr).toBe(0);
    expect(await refusals(at, first(at), again)).toBe(2);
  }
});

test("a forbidden tool stays forbidden after a takeover, also when the suspended earlier owner continues", async () => {
  const at = place(files);
  const held = at.start(run, { env: { SUBCREW_FAULT: "stop@journal.write:2" } });
  await isStopped(held.child.pid!);
  const id = first(at);
  // As after a reboot: the process with this pid is another one.
  const [claim = ""] = readdirSync(join(runs(at), id)).filter((name) => name.startsWith("owner."));
  writeFileSync(join(runs(at), id, claim), JSON.stringify({ pid: held.child.pid, started: "1", boot: "another" }));
  const again = await at.run(["resume", id, "--trust", "--json"]);
  expect(again.code, again.stderr).toBe(0);
  expect(await refusals(at, id, again)).toBe(2);
  const { events } = await readJournal(join(runs(at), id));
  held.child.kill("SIGCONT");
  const late = await held.ended;
  expect(late.code).not.toBe(0);
  expect(late.stderr).toContain("RUN_BUSY");
  expect((await readJournal(join(runs(at), id))).events).toEqual(events);
  expect(await refusals(at, id, late)).toBe(2);
});

async function isStopped(pid: number): Promise<void> {
  while (!/\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) await sleep(10);
}

describe("a forbidden tool stays forbidden in a node whose result is reused", () => {
  const read = { calls: [{ name: "read_file", input: { path: "notes.txt" } }] };
  const asked = ["run", "careful", "x", "--model", "scripted:a.json", "--trust", "--json", "--reuse"];
  const start = (tools: string): Place =>
    place({
      ".subcrew/agents/careful.md": agent(tools),
      "notes.txt": "one\n",
      "a.json": script(read, { calls: [append] }, "done"),
    });
  const reused = (ended: Ended): boolean => ended.stdout.includes('"type":"node.reused"');
  const idOf = ({ stdout }: Ended): string => /run_\w{12}/.exec(stdout)?.[0] ?? "";

  test("a result of a run in which a tool call was refused is not reused, and the new run refuses the call, too", async () => {
    const at = start("[read_file]");
    const before = await at.run(asked);
    expect(await refusals(at, idOf(before), before)).toBe(1);
    const now = await at.run(asked);
    expect([now.code, reused(now)]).toEqual([0, false]);
    expect(await refusals(at, idOf(now), now)).toBe(1);
  });

  test("a result of a run in which the tool was still allowed is not reused, and the tool is refused", async () => {
    const at = start("[read_file, memory_append]");
    expect((await at.run(asked)).code).toBe(0);
    rmSync(join(at.home, "state", "memory"), { recursive: true });
    writeFileSync(join(at.workspace, ".subcrew/agents/careful.md"), agent("[read_file]"));
    const now = await at.run(asked);
    expect([now.code, reused(now)]).toEqual([0, false]);
    expect(await refusals(at, idOf(now), now)).toBe(1);
  });

  test("a file that may no longer be read is not read for the comparison, and the result is not reused", async () => {
    const at = start("[read_file]");
    expect((await at.run(asked)).code).toBe(0);
    const now = await at.run([...asked, "--deny", "read_file(notes.txt)"]);
    expect(reused(now)).toBe(false);
    expect(now.stdout).toMatch(/"type":"tool.denied"[^\n]*read_file/);
  });
});
