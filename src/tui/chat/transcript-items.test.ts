import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import type { Transcript, TranscriptEntry } from "../../core/view/transcript.ts";
import { transcriptItems } from "./transcript-items.ts";
import { placeAfter, type TranscriptPlace, transcriptKey, transcriptRows } from "./transcript-screen.ts";

const look = createLook({ color: false, unicode: true });
const size = { columns: 60, height: 20, options: { look, columns: 60 } };

const prompt = (at: number, text: string): TranscriptEntry => ({
  kind: "prompt",
  at,
  attempt: 1,
  text,
  continues: undefined,
});
const note = (at: number, text: string): TranscriptEntry => ({ kind: "note", at, label: "note", text });
const end = (at: number): TranscriptEntry => ({
  kind: "end",
  at,
  outcome: { status: "ok", output: "done" } as Extract<TranscriptEntry, { kind: "end" }>["outcome"],
});
const task = (path: string, startedAt: number, entries: readonly TranscriptEntry[]): Transcript => ({
  path,
  label: path,
  agent: path.split("/").at(-1),
  model: undefined,
  startedAt,
  entries,
});

/** Three levels of agents, and a second answer in which the first level has the same path. */
const first = [
  task("lead", 0, [prompt(0, "do it"), note(9, "all is done"), end(10)]),
  task("lead/mid", 2, [prompt(2, "the middle"), note(8, "middle is done"), end(8)]),
  task("lead.2/other", 3, [prompt(3, "beside it"), end(4)]),
  task("lead/mid/low", 4, [prompt(4, "the lowest"), end(6)]),
];
const second = [task("lead", 20, [prompt(20, "again"), end(30)]), task("lead/mid", 22, [prompt(22, "once more")])];

const shown = (runs: readonly (readonly Transcript[])[], place: TranscriptPlace): string[] =>
  transcriptRows(transcriptItems(runs, look), place, size)
    .slice(0, -1)
    .map((row) => stripVTControlCharacters(row).trimEnd())
    .filter((row) => row !== "");

test("a helper is one row where it was started, and opens to its steps and its own helpers", () => {
  const items = transcriptItems([first, second], look);
  let place: TranscriptPlace = { selected: 0, open: new Set(), top: 0 };
  const press = (name: string): void => {
    place = transcriptKey(items, place, { name }, size)!;
  };
  expect(shown([first, second], place)).toEqual([
    "> > do it",
    "  ✓ mid · 0 calls · 6ms",
    "  ✓ other · 0 calls · 1ms",
    "  note: all is done",
    "  > again",
    "  ● mid · 0 calls",
  ]);
  press("down");
  press("enter");
  press("down");
  press("down");
  press("right");
  expect(shown([first, second], place)).toEqual([
    "  > do it",
    "  ✓ mid · 0 calls · 6ms",
    "    > the middle",
    ">   ✓ low · 0 calls · 2ms",
    "      > the lowest",
    "    note: middle is done",
    "  ✓ other · 0 calls · 1ms",
    "  note: all is done",
    "  > again",
    "  ● mid · 0 calls",
  ]);
  press("left");
  press("left");
  expect(place.selected).toBe(1);
});

test("open and selected items stay so while steps are added", () => {
  const before = transcriptItems([first.slice(0, 2)], look);
  const after = transcriptItems([first], look);
  const at = before.findIndex(({ title }) => title.includes("middle is done"));
  const place = placeAfter(before, after, { selected: at, open: new Set([1]), top: 0 });
  expect(after[place.selected]!.title).toContain("middle is done");
  expect([...place.open]).toEqual([1]);
});

test("several tasks of one run are one row each, and open to their steps", () => {
  const team = [
    [
      task("build", 0, [prompt(0, "build it"), end(5)]),
      task("docs", 1, [prompt(1, "describe it")]),
      task("all", 5, [end(5)]),
    ],
  ];
  expect(shown(team, { selected: 0, open: new Set([2]), top: 0 })).toEqual([
    "> ✓ build: build · 0 calls · 5ms",
    "  ● docs: docs · 0 calls",
    "    > describe it",
  ]);
});
