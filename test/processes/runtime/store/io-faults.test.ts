import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { type Ended, type Place, place, script } from "../../command.ts";
import { type Need, needs, needsTimeout } from "../../../needs.ts";

const words = {
  "a.json": script(
    // The tool waits until the record of its call is stored before it writes.
    { calls: [{ name: "memory_write", input: { key: "note", text: "x" } }] },
    // Slow turns are recorded one by one; faster ones share a write.
    { calls: [{ name: "list_files", input: {} }], delayMs: 60 },
    { text: "done", delayMs: 60 },
  ),
};
const run = ["run", "general", "x", "--model", "scripted:a.json", "--json"];
const idIn = (at: Place): string => readdirSync(join(at.env["SUBCREW_HOME"]!, "runs"))[0]!;
const journalOf = (at: Place): string => join(at.env["SUBCREW_HOME"]!, "runs", idIn(at));

/** The numbers of the events that were printed. */
const told = ({ stdout }: Ended): number[] =>
  stdout
    .split("\n")
    .filter((line) => line.includes('"seq":'))
    .map((line) => (JSON.parse(line) as { seq: number }).seq);

/** The run ended properly, its printed events are all recorded and none is incomplete; then it can be finished. */
async function endsCleanly(at: Place, broken: Ended): Promise<void> {
  expect(broken.stdout + broken.stderr).toContain("STATE_UNWRITABLE");
  expect(broken).toMatchObject({ code: 1, signal: null });
  const { events, problems } = await readJournal(journalOf(at));
  expect(problems).toEqual([]);
  expect(events.map(({ seq }) => seq).slice(0, told(broken).length)).toEqual(told(broken));
  const again = await at.run(["resume", idIn(at), "--json"]);
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect((await readJournal(journalOf(at))).events.filter(({ type }) => type === "run.ended")).toHaveLength(1);
}

describe("a write that fails, at any place", () => {
  test.for([
    "enospc@journal.write:1",
    "enospc@journal.write:3",
    "eio@journal.written:2",
    "enospc@journal.written:3",
    "eio@journal.synced:2",
  ])("%s", async (fault) => {
    const at = place(words);
    const broken = await at.run(run, { env: { SUBCREW_FAULT: fault } });
    if (fault.endsWith(":1")) {
      expect(broken.stdout + broken.stderr).toContain("STATE_UNWRITABLE");
      expect(told(broken)).toEqual([]);
      return;
    }
    await endsCleanly(at, broken);
  });
});

describe("faults injected into system calls", () => {
  let strace: Need;
  beforeAll(async () => {
    strace = await needs("strace");
  }, needsTimeout);
  const traced = (...inject: string[]) => [
    "strace",
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    ...inject.flatMap((one) => ["-e", one]),
  ];
  const oneThread = { UV_THREADPOOL_SIZE: "1" };

  test.for(["EIO", "ENOSPC"])(
    "LOG-10: the second fdatasync fails with %s: its records are not acknowledged",
    async (error, context) => {
      if (strace.missing !== undefined) context.skip(strace.missing);
      const at = place(words);
      const broken = await at.run(run, {
        env: oneThread,
        through: traced("trace=fdatasync", `inject=fdatasync:error=${error}:when=2`),
      });
      await endsCleanly(at, broken);
    },
  );

  test("a run whose process is killed in its n-th fdatasync is resumed", async (context) => {
    if (strace.missing !== undefined) context.skip(strace.missing);
    for (const when of [1, 3]) {
      const at = place(words);
      const killed = await at.run(run, {
        env: oneThread,
        through: traced("trace=fdatasync", `inject=fdatasync:signal=KILL:when=${when}`),
      });
      const { events } = await readJournal(journalOf(at));
      expect(events.map(({ seq }) => seq).slice(0, told(killed).length)).toEqual(told(killed));
      expect(killed.stdout).not.toContain('"type":"result"');
      if (events.length === 0) continue;
      const again = await at.run(["resume", idIn(at), "--json"]);
      expect(again, again.stderr).toMatchObject({ code: 0 });
    }
  });

  test("an event is printed only after its fdatasync", async (context) => {
    if (strace.missing !== undefined) context.skip(strace.missing);
    const at = place(words);
    const trace = join(at.home, "trace");
    const through = [
      "strace",
      "-f",
      "-qq",
      "-s",
      "200000",
      "-e",
      "trace=write,pwrite64,fdatasync",
      "-e",
      "signal=none",
      "-o",
      trace,
    ];
    const { code } = await at.run(run, { env: oneThread, through });
    expect(code).toBe(0);
    let written = 0;
    let synced = 0;
    let printed = 0;
    for (const line of readFileSync(trace, "utf8").split("\n")) {
      const records = line.match(/\\"crc\\":\\"[0-9a-f]{8}/g)?.length ?? 0;
      if (records > 0) written += records;
      else if (/fdatasync.*= 0$/.test(line)) synced = written;
      for (const [, seq] of /write\(1,/.test(line) ? line.matchAll(/\{\\"seq\\":(\d+),/g) : []) {
        printed += 1;
        expect(synced, line.slice(0, 200)).toBeGreaterThanOrEqual(Number(seq));
      }
    }
    expect(printed).toBeGreaterThan(5);
    expect(printed).toBe(written);
  });
});

/** Mounts a separate file system on a folder until the test ends; that needs root. */
function mount(folder: string, ...options: string[]): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options.join(), "tmpfs", folder], { stdio: "ignore" });
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    return true;
  } catch {
    return false;
  }
}

describe("a state folder", () => {
  test("IO-01: on a full disk: the run stops, the files are complete, and with more space it continues", async (context) => {
    const turns = Array.from({ length: 12 }, () => ({
      text: "x".repeat(8_000),
      calls: [{ name: "list_files", input: {} }],
      delayMs: 20,
    }));
    const at = place({ "a.json": script(...turns, "done") });
    const state = at.env["SUBCREW_HOME"]!;
    mkdirSync(state, { recursive: true });
    if (!mount(state, "size=64k", "mode=700")) context.skip("a small disk cannot be mounted here: that needs root");
    const broken = await at.run(run);
    expect(broken.stdout + broken.stderr).toContain("ENOSPC");
    expect(broken).toMatchObject({ code: 1 });
    const { events, problems } = await readJournal(journalOf(at));
    expect(problems).toEqual([]);
    expect(events.map(({ seq }) => seq).slice(0, told(broken).length)).toEqual(told(broken));
    execFileSync("mount", ["-o", "remount,size=4m", state]);
    const again = await at.run(["resume", idIn(at), "--json"]);
    expect(again, again.stderr).toMatchObject({ code: 0 });
  });

  test("IO-03: that is read-only: no model gets a request, and the error names the folder", async (context) => {
    const at = place(words);
    const state = at.env["SUBCREW_HOME"]!;
    mkdirSync(state, { recursive: true });
    if (!mount(state, "ro", "mode=700")) context.skip("a folder cannot be mounted read-only here: that needs root");
    const broken = await at.run(run);
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.stdout + broken.stderr).toContain(state);
    expect(broken.stdout + broken.stderr).toMatch(/STATE_UNWRITABLE.*SUBCREW_HOME/);
    expect(broken.stdout).not.toContain("turn.started");
  });
});

test("IO-02: a workspace on a full disk: the tool reports it, and the file keeps its content", async (context) => {
  const write = { name: "write_file", input: { path: "a.txt", content: "y".repeat(90_000) } };
  const at = place();
  const disk = join(at.workspace, "disk");
  mkdirSync(disk);
  if (!mount(disk, "size=64k")) context.skip("a small disk cannot be mounted here: that needs root");
  writeFileSync(join(disk, "a.txt"), "x".repeat(30_000));
  writeFileSync(join(at.home, "a.json"), script({ calls: [write] }, "done"));
  const args = ["run", "general", "x", "--model", `scripted:${join(at.home, "a.json")}`, "--json", "--cwd", disk];
  const { stdout } = await at.run([...args, "--permission-mode", "acceptEdits"]);
  const [ended] = stdout.split("\n").filter((line) => line.includes('"type":"tool.ended"'));
  expect(JSON.parse(ended ?? "{}")).toMatchObject({ error: true, text: expect.stringContaining("the disk is full") });
  expect(readFileSync(join(disk, "a.txt"), "utf8")).toBe("x".repeat(30_000));
  expect(readdirSync(disk)).toEqual(["a.txt"]);
});

describe("a clock that jumps", () => {
  let faketime: Need;
  beforeAll(async () => {
    faketime = await needs("faketime");
  }, needsTimeout);

  test.for(["-1h", "+1h"])(
    "CLK-01: %s between two processes of a run: no duration is negative, and the order is that of the numbers",
    async (jump, context) => {
      if (faketime.missing !== undefined) context.skip(faketime.missing);
      const at = place(words);
      await at.run(run, { env: { SUBCREW_FAULT: "kill@journal.written:3" } });
      const again = await at.run(["resume", idIn(at), "--json"], { through: ["faketime", "-f", jump] });
      expect(again, again.stderr).toMatchObject({ code: 0 });
      const result = JSON.parse(again.stdout.trimEnd().split("\n").at(-1)!) as { ms: number };
      expect(result.ms).toBeGreaterThanOrEqual(0);
      const seqs = told(again);
      expect(seqs).toEqual(seqs.map((_, at) => at + 1));
      const { events } = await readJournal(journalOf(at));
      for (const event of events) if (event.type === "tool.ended") expect(event.ms).toBeGreaterThanOrEqual(0);
      const listed = await at.run(["runs"]);
      expect(listed.stdout).not.toMatch(/-\d+ ?m?s/);
    },
  );
});
