import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createCrew, defineAgent, type Event } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { call, play } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";

const free = { permissions: { mode: "bypass", sandbox: "off" } } as const;
const edit = (path: string, oldText: string, newText: string) => call("edit_file", { path, oldText, newText });
const read = (path: string) => call("read_file", { path });
const write = (path: string, content: string) => call("write_file", { path, content });

const TASKS = 8;
const LINES = 5;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test.each(["a", "no"])("parallel tasks with %s home folder that change one file keep all changes", async (which) => {
  const home = which === "no" ? false : tempFolder();
  const cwd = tempFolder();
  const names = numbers(TASKS).map((task) => numbers(LINES).map((line) => `task ${task} line ${line}`));
  writeFileSync(join(cwd, "a.txt"), `${names.flat().join(".\n")}.\n`);
  const crew = createCrew({
    cwd,
    home,
    env: {},
    discover: false,
    agents: numbers(TASKS).map((task) =>
      defineAgent({ name: `w${task}`, description: "works", instructions: "Work.", model: `m${task}` }),
    ),
    models: Object.fromEntries(
      names.map((lines, task) => [
        `m${task}`,
        scripted(read("a.txt"), ...lines.map((line) => edit("a.txt", `${line}.`, `${line} is done.`)), "done"),
      ]),
    ),
    ...free,
  });
  const tasks = numbers(TASKS).map((task) => ({ agent: `w${task}`, task: "Go." }));
  const run = crew.run({ mode: "parallel", tasks });
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  expect((await run).status).toBe("ok");
  expect(events.flatMap((event) => (event.type === "tool.ended" && event.error ? [event.text] : []))).toEqual([]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(`${names.flat().join(" is done.\n")} is done.\n`);
  if (home !== false) expect(readdirSync(join(home, "locks"))).toEqual([]);
});

describe("a file that something else changed since the task last read or wrote it", () => {
  const cases: readonly (readonly [string, (cwd: string) => void, Script])[] = [
    ["overwritten", () => {}, write("a.txt", "mine\n")],
    ["deleted", () => {}, call("delete_file", { path: "a.txt" })],
    ["deleted with its folder", () => {}, call("delete_file", { path: "src", recursive: true })],
    ["replaced by a moved file", () => {}, call("move_file", { from: "b.txt", to: "a.txt", overwrite: true })],
  ];
  const prepared = (): string => {
    const cwd = tempFolder();
    for (const name of ["a.txt", "b.txt"]) writeFileSync(join(cwd, name), "one\n");
    mkdirSync(join(cwd, "src"));
    writeFileSync(join(cwd, "src", "a.txt"), "one\n");
    return cwd;
  };
  /** Changes both files as an editor does: a new file is moved over the old one. */
  const changed = (cwd: string): Script => {
    return () => {
      for (const file of [join(cwd, "a.txt"), join(cwd, "src", "a.txt")]) {
        writeFileSync(`${file}.new`, "theirs\n");
        renameSync(`${file}.new`, file);
      }
      return read("b.txt") as never;
    };
  };

  test.each(cases)("is not %s before it is read again", async (_, __, change) => {
    const cwd = prepared();
    const [first, again] = [read("a.txt"), read("src/a.txt")];
    const { ended } = await play([first, again, changed(cwd), change, first, again, change], { cwd, ...free });
    expect(ended.map(({ error }) => error)).toEqual([false, false, false, true, false, false, false]);
    expect(ended[3]?.text).toMatch(/a\.txt" was changed by another process since you read it: read it again/);
  });

  test("is still known as changed after it was moved, alone or with its folder", async () => {
    for (const [from, to, file] of [
      ["a.txt", "c.txt", "c.txt"],
      ["src", "lib", "lib/a.txt"],
    ] as const) {
      const cwd = prepared();
      const script = [
        read("a.txt"),
        read("src/a.txt"),
        changed(cwd),
        call("move_file", { from, to }),
        write(file, "mine"),
      ];
      const { ended } = await play(script, { cwd, ...free });
      expect(ended.slice(3).map(({ error }) => error)).toEqual([false, true]);
      expect(readFileSync(join(cwd, file), "utf8")).toBe("theirs\n");
    }
  });

  test("is overwritten if only its permissions were changed", async () => {
    const cwd = prepared();
    const script = [read("a.txt"), call("bash", { command: "chmod +x a.txt" }), write("a.txt", "mine\n")];
    const { ended } = await play(script, { cwd, ...free });
    expect(ended.map(({ error }) => error)).toEqual([false, false, false]);
  });
});
