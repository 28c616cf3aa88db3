import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Model } from "../../../src/core/model/model.ts";
import type { KeptEvent } from "../../../src/core/run/event.ts";
import { defineTool } from "../../../src/core/task/tool.ts";
import { createCrew } from "../../../src/crew.ts";
import type { Crew } from "../../../src/crew/crew-type.ts";
import { localEngine } from "../../../src/engines/local.ts";
import { never, type ScriptedModel, type ScriptedTurn, scripted } from "../../../src/models/scripted/scripted.ts";
import { type Disk, machineDisk } from "../../../src/runtime/disk/disk.ts";
import type { DiskFile } from "../../../src/runtime/disk/open-file.ts";
import { drive } from "../../../src/runtime/features/drive.ts";
import { runFeatures } from "../../../src/runtime/features/features.ts";
import { Run } from "../../../src/runtime/run/run.ts";
import { openJournal } from "../../../src/runtime/store/journal.ts";
import { readJournal } from "../../../src/runtime/store/read-journal.ts";
import { JOURNAL_FILE } from "../../../src/runtime/store/layout.ts";
import { encodeLine } from "../../support/encode-line.ts";
import { decodeLine } from "../../support/encode-line.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** Each of these failed in a simulation first; here it is reduced to a small test. */

function crewAt(home: string, model: ScriptedModel): { crew: Crew; done: string[] } {
  const done: string[] = [];
  const leave = defineTool({
    name: "leave",
    description: "Leaves a line.",
    input: z.object({ line: z.string() }),
    effect: "read",
    run: ({ line }) => {
      done.push(line);
      return `done: ${line}`;
    },
  });
  const worker = { name: "worker", description: "Works.", instructions: "Work.", limits: { maxTurns: 2 } };
  const crew = createCrew({
    cwd: home,
    home,
    discover: false,
    env: {},
    models: { m: model },
    tools: [leave],
    agents: [worker],
    permissions: { mode: "bypass" },
  });
  return { crew, done };
}

const leaves = (...lines: string[]): ScriptedTurn => ({
  text: "",
  calls: lines.map((line) => ({ name: "leave", input: { line } })),
});
const single = { mode: "single", agent: "worker", task: "Go." } as const;

/** Cuts a journal after a record, as if the process had been killed then. */
function killedAfter(home: string, id: string, isLast: (event: KeptEvent) => boolean): void {
  const file = join(home, "runs", id, JOURNAL_FILE);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const last = lines.findLastIndex((line) => isLast(decodeLine(line)!.event));
  writeFileSync(
    file,
    lines
      .slice(0, last + 1)
      .join("\n")
      .concat("\n"),
  );
}

test("a task that is interrupted twice keeps the turns from before the first interruption", async () => {
  const home = tempFolder();
  const run = crewAt(home, scripted(leaves("one"), "finished")).crew.run(single);
  await run;
  killedAfter(home, run.id, ({ type }) => type === "tool.ended");
  await crewAt(home, scripted("finished")).crew.resume(run.id);
  killedAfter(home, run.id, ({ type }) => type === "turn.started");
  const model = scripted("finished");
  const { crew, done } = crewAt(home, model);
  expect(await crew.resume(run.id)).toMatchObject({ status: "ok", output: "finished" });
  expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(done).toEqual([]);
});

test("a turn that a model never ended is not counted, whatever deltas it sent", async () => {
  const home = tempFolder();
  const run = crewAt(home, scripted("finished")).crew.run(single);
  await run;
  const file = join(home, "runs", run.id, JOURNAL_FILE);
  killedAfter(home, run.id, ({ type }) => type === "turn.started");
  const { events } = await readJournal(join(file, ".."));
  const { path, at } = events.at(-1)!;
  const warning = { type: "warning", code: "MODEL_RETRY", text: "Trying again." } as const;
  const more = encodeLine({ seq: events.length + 1, run: run.id, path, at, ...warning }, 1);
  writeFileSync(file, readFileSync(file, "utf8") + more);
  const resumed = crewAt(home, scripted("finished")).crew.resume(run.id);
  const turns: number[] = [];
  for await (const event of resumed) if (event.type === "turn.started") turns.push(event.turn);
  expect(turns).toEqual([1, 1]);
});

test("no turn follows the grace turn after a limit, and no call in that turn is executed", async () => {
  const home = tempFolder();
  const turns = [leaves("one"), leaves("two"), leaves("three")];
  const run = crewAt(home, scripted(...turns)).crew.run(single);
  expect(await run).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" } });
  killedAfter(home, run.id, (event) => event.type === "turn.ended");
  const model = scripted("more");
  const { crew, done } = crewAt(home, model);
  expect(await crew.resume(run.id)).toMatchObject({ status: "failed", fault: { code: "MAX_TURNS" } });
  expect(model.requests).toEqual([]);
  expect(done).toEqual([]);
});

test("a run that ends while it is being resumed only publishes its events again", async () => {
  const home = tempFolder();
  const run = crewAt(home, scripted("finished")).crew.run(single);
  await run;
  const folder = join(home, "runs", run.id);
  const before = (await readJournal(folder)).events;
  const started = before[0];
  if (started?.type !== "run.started") throw new Error("it never began");
  const start = {
    plan: started.plan,
    engine: localEngine({
      perform: () => Promise.reject(new Error("nothing is left to do")),
      journal: (_, listener) => openJournal(folder, listener),
    }),
    parameters: {},
    clock: () => 0,
    random: () => 0,
    version: "0",
    cwd: home,
    context: "",
    compile: () => started.plan,
  };
  const again = new Run(run.id, (it) => drive(runFeatures, { ...start, resume: { retryFailed: false } }, it));
  expect(await again).toMatchObject({ status: "ok", output: "finished" });
  await expect(new Run(run.id, (it) => drive(runFeatures, start, it))).rejects.toMatchObject({ code: "RUN_BUSY" });
  expect((await readJournal(folder)).events).toEqual(before);
});

test("a task whose helpers took too long has its slot again before it continues", async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const other: Model = async function* () {
    await released;
    yield { type: "text", text: "other is done" };
    yield { type: "end", usage: { input: 1, output: 1 } };
  };
  const call = { name: "ask_sleeper", input: {} };
  const ask = defineTool({
    name: "ask_sleeper",
    description: "Asks.",
    input: z.object({}),
    effect: "read",
    timeoutMs: 1_000,
    run: async (_, { delegate }) => (await delegate({ mode: "single", agent: "sleeper", task: "Sleep." })).status,
  });
  const agent = (name: string, model: string) => ({ name, description: name, instructions: "Work.", model });
  const crew = createCrew({
    home: false,
    discover: false,
    env: {},
    concurrency: 1,
    models: { lead: scripted({ text: "", calls: [call] }, "lead is done"), other, never },
    tools: [ask],
    agents: [agent("lead", "lead"), agent("other", "other"), agent("sleeper", "never")],
    permissions: { mode: "bypass" },
  });
  const run = crew.run({
    mode: "parallel",
    tasks: [
      { agent: "lead", task: "Lead." },
      { agent: "other", task: "Wait." },
    ],
  });
  const seen: string[] = [];
  for await (const event of run) {
    if (event.type === "turn.started") seen.push(`${event.path} turn ${event.turn}`);
    if (event.type === "node.ended") seen.push(`${event.path} ended`);
    if (event.type === "node.ended" && event.path.endsWith("/sleeper")) release();
  }
  expect(seen.slice(0, 5)).toEqual(["lead turn 1", "other turn 1", "lead/sleeper ended", "other ended", "lead turn 2"]);
});

const note = (seq: number, text = `fact ${seq}`): KeptEvent => ({
  seq,
  run: "run_1",
  path: "a",
  at: 0,
  type: "note",
  text,
});
const quiet = { kept: () => {}, lost: () => {} };

test("records that an old owner writes after a new owner has read the journal and before its first record are ignored", async () => {
  const folder = tempFolder();
  const lines = [encodeLine(note(1), 1), encodeLine(note(2, "told to nobody"), 1), encodeLine(note(2), 2)];
  writeFileSync(join(folder, JOURNAL_FILE), [...lines, encodeLine(note(3), 2)].join(""));
  const { events, problems } = await readJournal(folder);
  expect(events).toEqual([note(1), note(2), note(3)]);
  expect(problems).toHaveLength(1);
});

test("records found in a journal are synced to the disk before they are published", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, JOURNAL_FILE), encodeLine(note(1), 1));
  const synced: string[] = [];
  const journal = await openJournal(
    folder,
    quiet,
    watching((file, path) => ({
      sync: () => {
        synced.push(path);
        return file.sync();
      },
    })),
  );
  expect(synced).toContain(join(folder, JOURNAL_FILE));
  await journal.close();
});

test("the rest of a partial write is not written after another process has taken over the run", async () => {
  const folder = tempFolder();
  let writes = 0;
  const journal = await openJournal(
    folder,
    quiet,
    watching((file) => ({
      write: async (bytes: string | Uint8Array, offset?: number) => {
        writes += 1;
        writeFileSync(join(folder, "owner.2.json"), "{}");
        return file.write(Buffer.from(bytes as string).subarray(offset ?? 0, (offset ?? 0) + 5), 0);
      },
    })),
  );
  journal.append(note(1));
  await expect(journal.durable()).rejects.toMatchObject({ code: "RUN_BUSY" });
  expect(writes).toBe(1);
  await journal.close();
});

test("a replaced owner does not remove unsynced records that the new owner has already read", async () => {
  const folder = tempFolder();
  const journal = await openJournal(
    folder,
    quiet,
    watching(() => ({
      datasync: () => {
        writeFileSync(join(folder, "owner.2.json"), "{}");
        return Promise.reject(new Error("EIO"));
      },
    })),
  );
  journal.append(note(1));
  await expect(journal.durable()).rejects.toMatchObject({ code: "STATE_UNWRITABLE" });
  await journal.close();
  expect((await readJournal(folder)).events).toEqual([note(1)]);
});

/** The disk of this machine, with some functions replaced. */
function watching(instead: (file: DiskFile, path: string) => Partial<DiskFile>): { disk: Disk } {
  const disk: Disk = {
    ...machineDisk,
    open: async (path, flags, mode) => {
      const file = await machineDisk.open(path, flags, mode);
      const own: DiskFile = {
        write: file.write.bind(file),
        datasync: () => file.datasync(),
        sync: () => file.sync(),
        truncate: (length) => file.truncate(length),
        stat: () => file.stat(),
        close: () => file.close(),
      };
      return { ...own, ...instead(own, path) };
    },
  };
  return { disk };
}
