import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type Event } from "../../src/index.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { play, type Played } from "../support/play.ts";
import { tempFolder } from "../support/temp-folder.ts";

type Called = Readonly<{ name: string; input: object }>;

const edit = (path: string, oldText: string, newText: string): Called => ({
  name: "edit_file",
  input: { path, oldText, newText },
});
const write = (path: string, content: string): Called => ({ name: "write_file", input: { path, content } });
const read = (path: string): Called => ({ name: "read_file", input: { path } });
const move = (from: string, to: string): Called => ({ name: "move_file", input: { from, to } });
const bash = (command: string): Called => ({ name: "bash", input: { command } });

const free = { permissions: { mode: "bypass", sandbox: "off" } } as const;

/** A workspace with a file of three words and a folder with a file. */
function workspace(): string {
  const cwd = tempFolder();
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n");
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "src", "b.txt"), "one\n");
  return cwd;
}

/** What the model read, and the files afterwards. */
function effectsOf({ cwd, ended, denied }: Played): object {
  const files = readdirSync(cwd, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((file) => [file, statSync(join(cwd, file)).isFile() ? readFileSync(join(cwd, file), "utf8") : "folder"]);
  const texts = ended.map(({ tool, text, error }) => `${tool} ${String(error)} ${text}`);
  return { texts: texts.toSorted(), denied, files };
}

/** Plays the calls in one turn, and the same calls in a turn each. */
async function both(calls: readonly Called[]): Promise<{ together: object; alone: object }> {
  const together = await play([{ calls }], { cwd: workspace(), ...free });
  const alone = await play(
    calls.map((call) => ({ calls: [call] })),
    { cwd: workspace(), ...free },
  );
  return { together: effectsOf(together), alone: effectsOf(alone) };
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

const inEveryOrder = (...calls: readonly Called[]): (readonly [string, readonly Called[]])[] =>
  permutations(calls).map((order) => [
    order.map(({ name, input }) => `${name} ${Object.values(input).join(" ")}`.replaceAll("\n", "|")).join(", "),
    order,
  ]);

describe("the calls of one turn have the effects that they have one after the other", () => {
  test.each([
    ...inEveryOrder(edit("a.txt", "one", "1"), edit("a.txt", "two", "2"), edit("a.txt", "three", "3")),
    ...inEveryOrder(write("a.txt", "one new\n"), edit("a.txt", "one", "1"), read("a.txt")),
    ...inEveryOrder(edit("a.txt", "one", "1"), read("a.txt"), bash("cat a.txt")),
    ...inEveryOrder(move("a.txt", "c.txt"), edit("c.txt", "one", "1"), bash("ls; cat ?.txt")),
    ...inEveryOrder(move("src", "lib"), write("lib/b.txt", "new\n"), { name: "glob", input: { pattern: "**/*.txt" } }),
    ...inEveryOrder({ name: "delete_file", input: { path: "src", recursive: true } }, write("src/c/d.txt", "new\n"), {
      name: "list_files",
      input: {},
    }),
    ...inEveryOrder(bash("ln -sfn src link"), edit("src/b.txt", "one", "1"), edit("link/b.txt", "1", "uno")),
    ...inEveryOrder(bash("echo first >> log"), bash("echo second >> log"), bash("wc -l a.txt; cat log")),
    ...inEveryOrder(
      { name: "todo", input: { action: "add", title: "first" } },
      { name: "todo", input: { action: "add", title: "second" } },
      { name: "todo", input: { action: "complete", id: 1 } },
    ),
    ...inEveryOrder(
      { name: "set_env", input: { name: "STAGE", value: "late" } },
      { name: "get_env", input: { name: "STAGE" } },
      bash("echo $STAGE"),
    ),
    ...inEveryOrder(bash("wc -l < a.txt > slow.txt; echo done >> slow.txt"), read("slow.txt"), {
      name: "grep_files",
      input: { pattern: "done" },
    }),
  ])("%s", async (_, calls) => {
    const { together, alone } = await both(calls);
    expect(together).toEqual(alone);
  });
});

const turn = (...calls: readonly Called[]): { calls: readonly Called[] } => ({ calls });

/** The starts and ends of calls, in the order in which they happened. */
const steps = (events: readonly Event[]): string[] =>
  events.flatMap((event) => {
    if (event.type === "tool.started") return [`${event.tool} starts`];
    return event.type === "tool.ended" ? [`${event.tool} ends`] : [];
  });

describe("calls run together", () => {
  /** Tools that end only when `count` calls of them run at the same time. */
  function meeting(count: number, more: object) {
    const all = deferred<void>();
    let here = 0;
    const tool = (name: string) =>
      defineTool({
        name,
        description: name,
        input: z.object({ path: z.string().optional() }),
        effect: "read",
        timeoutMs: 5_000,
        run: async () => {
          here += 1;
          if (here === count) all.resolve();
          await all.promise;
          return "met";
        },
        ...more,
      });
    return [tool("first"), tool("second")];
  }
  const two = (...paths: readonly [string, string]) =>
    turn({ name: "first", input: { path: paths[0] } }, { name: "second", input: { path: paths[1] } });
  const files = {
    effect: "write",
    does: "write",
    subjects: ({ path = "" }) => [{ kind: "path", path, change: true }],
  } as const;

  test.each([
    ["that only read", {}, two("a", "a")],
    ["that start agents", { effect: "write", does: "spawn" }, two("a", "a")],
    ["that change different files", files, two("a.txt", "src/b.txt")],
    ["that count as reading in the order, whatever they may do", { effect: "write", order: () => "read" }, two("", "")],
  ])("%s", async (_, more, calls) => {
    const { ended } = await play([calls], { cwd: workspace(), ...free, tools: meeting(2, more) });
    expect(ended.map(({ text }) => text)).toEqual(["met", "met"]);
  });

  test.each([
    ["that change one file", files, two("a.txt", "src/../a.txt")],
    ["that change a folder and a file in it", files, two("src", "src/new/c.txt")],
    ["whose files may be the same on this disk", files, two("a.txt", "A.txt")],
    ["that change something unknown", { effect: "write" }, two("a.txt", "src/b.txt")],
  ])("but not those %s", async (_, more, calls) => {
    const { events } = await play([calls], { cwd: workspace(), ...free, tools: meeting(1, more) });
    expect(steps(events)).toEqual(["first starts", "first ends", "second starts", "second ends"]);
  });
});

test("calls of delegation tools run together, after the changes before them and before those behind them", async () => {
  const start = defineTool({
    name: "start",
    description: "starts",
    input: z.object({}),
    effect: "read",
    does: "spawn",
    run: () => "started",
  });
  const helper = { name: "start", input: {} };
  const calls = [edit("a.txt", "one", "1"), helper, helper, edit("a.txt", "two", "2"), read("a.txt"), helper];
  const { events } = await play([turn(...calls)], { cwd: workspace(), ...free, tools: [start] });
  expect(steps(events)).toEqual([
    ...["edit_file starts", "edit_file ends"],
    ...["start starts", "start starts", "start ends", "start ends"],
    ...["edit_file starts", "edit_file ends"],
    ...["read_file starts", "read_file ends"],
    ...["start starts", "start ends"],
  ]);
});

test("a failed, an invalid and a refused call do not stop the calls behind them", async () => {
  const calls = [
    edit("a.txt", "nowhere", "x"),
    { name: "edit_file", input: {} },
    bash("rm a.txt"),
    edit("a.txt", "one", "1"),
  ];
  const played = await play([turn(...calls)], {
    cwd: workspace(),
    permissions: { mode: "acceptEdits", deny: ["bash(rm *)"] },
  });
  expect(played.denied).toHaveLength(1);
  expect(played.ended.map(({ error }) => error)).toEqual([true, false]);
  expect(readFileSync(join(played.cwd, "a.txt"), "utf8")).toBe("1\ntwo\nthree\n");
});

test("a question is asked when the turn of its call comes, with the diff against the file at that moment", async () => {
  const calls = [edit("a.txt", "one", "1"), edit("a.txt", "1", "uno"), write("a.txt", "uno\nthree\n")];
  const { questions, events, cwd } = await play([turn(...calls)], {
    cwd: workspace(),
    answer: () => ({ approve: true }),
  });
  const diffs = questions.map((question) => question.split("\n").filter((line) => /^ +· [-+](?![-+])/.test(line)));
  expect(diffs).toEqual([["    · -one", "    · +1"], ["    · -1", "    · +uno"], ["    · -two"]]);
  const asked = events.flatMap(({ type }) => (["gate.opened", "tool.ended"].includes(type) ? [type] : []));
  expect(asked.slice(0, 4)).toEqual(["gate.opened", "tool.ended", "gate.opened", "tool.ended"]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("uno\nthree\n");
});

test("the question about a file that the agent may not read shows none of it", async () => {
  const cwd = workspace();
  writeFileSync(join(cwd, ".env"), "KEY=planted\nNAME=x\n");
  const { questions } = await play([turn(edit(".env", "NAME=x", "NAME=y"))], {
    cwd,
    permissions: { ask: ["read_file(.env)"] },
    answer: () => ({ approve: true }),
  });
  expect(questions.join("\n")).toContain(".env");
  expect(questions.join("\n")).not.toContain("planted");
});
