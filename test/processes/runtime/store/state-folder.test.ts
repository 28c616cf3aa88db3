import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import { followJournal } from "../../../../src/runtime/store/follow-journal.ts";
import { ownerOf } from "../../../../src/runtime/store/run-claim.ts";
import { openJournal } from "../../../../src/runtime/store/journal.ts";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { JOURNAL_FILE } from "../../../../src/runtime/store/layout.ts";
import { encodeLine } from "../../../support/encode-line.ts";
import { type Place, place, script } from "../../command.ts";
import { type Need, needs, needsTimeout } from "../../../needs.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

const fact = (seq: number, path = "a"): KeptEvent => ({
  seq,
  run: "run_1",
  path,
  at: seq,
  type: "note",
  text: `fact ${seq}`,
});
const words = { "a.json": script({ calls: [{ name: "list_files", input: {} }] }, { text: "done", delayMs: 60 }) };
const four = ["parallel", "general=1", "general=2", "general=3", "general=4", "--model", "scripted:a.json"];
const stateOf = (at: Place): string => at.env["SUBCREW_HOME"]!;
const runsOf = (at: Place): string[] => readdirSync(join(stateOf(at), "runs"));

test("LOG-07: with many concurrent writers of one run, no number is missing or repeated, and all are in order", async () => {
  const folder = tempFolder();
  const kept: number[] = [];
  const journal = await openJournal(folder, {
    kept: (events) => kept.push(...events.map(({ seq }) => seq)),
    lost: () => {},
  });
  let seq = 0;
  const write = async (path: string): Promise<void> => {
    for (let n = 0; n < 1_000; n += 1) {
      journal.append(fact(++seq, path));
      if (n % 50 === 0) await journal.durable();
    }
  };
  await Promise.all(["a", "b", "c", "d", "e", "f", "g", "h"].map(write));
  await journal.close();
  const numbers = Array.from({ length: 8_000 }, (_, at) => at + 1);
  expect(kept).toEqual(numbers);
  expect((await readJournal(folder)).events.map((event) => event.seq)).toEqual(numbers);
});

test("LOG-07: processes that share a state folder do not affect each other's runs", async () => {
  const at = place(words);
  const all = await Promise.all(Array.from({ length: 3 }, () => at.run(four)));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const id of runsOf(at)) {
    const { events, problems } = await readJournal(join(stateOf(at), "runs", id));
    expect(problems).toEqual([]);
    expect(new Set(events.map(({ run }) => run))).toEqual(new Set([id]));
    expect(events.at(-1)?.type).toBe("run.ended");
  }
  expect(runsOf(at)).toHaveLength(3);
});

test.each(["000", "077"])("LOG-12: with umask %s, only the user can read stored files", async (umask) => {
  const at = place(words);
  const through = ["/bin/sh", "-c", `umask ${umask}; exec "$@"`, "sh"];
  const { code, stderr } = await at.run(four, { through });
  expect(code, stderr).toBe(0);
  const modes = readdirSync(stateOf(at), { recursive: true, encoding: "utf8" }).map((name) => {
    const found = statSync(join(stateOf(at), name));
    return `${found.isDirectory() ? "folder" : "file"} ${(found.mode & 0o777).toString(8)}`;
  });
  expect(new Set([...modes, `folder ${(statSync(stateOf(at)).mode & 0o777).toString(8)}`])).toEqual(
    new Set(["folder 700", "file 600"]),
  );
});

test("LOG-13: a reader that follows a run waits for the rest of a record, and changes nothing", async () => {
  const folder = tempFolder();
  const file = join(folder, JOURNAL_FILE);
  writeFileSync(file, encodeLine(fact(1), 1));
  const seen: number[][] = [[], [], []];
  let reads = 0;
  const waiting = new Promise<void>((resolve) => {
    seen.forEach((numbers) => {
      const until = async (last: KeptEvent | undefined): Promise<boolean> => {
        if (++reads >= 9) resolve(); // by now every reader has seen the first half of the record
        return last?.seq === 3;
      };
      readers.push(
        (async () => {
          for await (const { seq } of followJournal(folder, { until, signal: new AbortController().signal }))
            numbers.push(seq);
        })(),
      );
    });
  });
  const next = encodeLine(fact(2), 1) + encodeLine(fact(3), 1);
  appendFileSync(file, next.slice(0, 40));
  await waiting;
  expect(seen).toEqual([[1], [1], [1]]);
  appendFileSync(file, next.slice(40));
  await Promise.all(readers);
  expect(seen).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(readFileSync(file, "utf8")).toBe(encodeLine(fact(1), 1) + next);
  expect(readdirSync(folder)).toEqual([JOURNAL_FILE]);
});
const readers: Promise<void>[] = [];

test("IO-04: with few descriptors many tasks still end properly", async () => {
  const look = { calls: [{ name: "grep_files", input: { pattern: "done" } }] };
  const at = place({ "a.json": script(look, "done") });
  const many = ["parallel", ...Array.from({ length: 8 }, (_, n) => `general=${n}`), "--model", "scripted:a.json"];
  const { code, stderr } = await at.run(many, { through: ["/bin/sh", "-c", 'ulimit -n 128; exec "$@"', "sh"] });
  expect(code, stderr).toBe(0);
  const { events } = await readJournal(join(stateOf(at), "runs", runsOf(at)[0]!));
  expect(events.at(-1)).toMatchObject({ type: "run.ended", outcome: { status: "ok" } });
});

let strace: Need;
beforeAll(async () => {
  strace = await needs("strace");
}, needsTimeout);

test("IO-05: on a slow disk the run continues, and its owner does not count as dead", async (context) => {
  if (strace.missing !== undefined) return context.skip(strace.missing);
  const at = place(words);
  const delay = ["-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=1500000"];
  const run = at.start(["run", "general", "x", "--model", "scripted:a.json", "--json"], {
    through: ["strace", "-f", "-qq", "-o", "/dev/null", ...delay],
  });
  await run.until('"type":"run.started"');
  expect((await ownerOf(join(stateOf(at), "runs", runsOf(at)[0]!))) !== undefined).toBe(true);
  await expect(
    openJournal(join(stateOf(at), "runs", runsOf(at)[0]!), { kept: () => {}, lost: () => {} }),
  ).rejects.toMatchObject({
    code: "RUN_BUSY",
  });
  expect(await run.ended).toMatchObject({ code: 0 });
});
