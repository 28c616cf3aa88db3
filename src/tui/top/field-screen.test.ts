import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLook } from "../../core/view/look.ts";
import { terminalLine } from "../../core/view/words.ts";
import { FieldScreen, type FieldFrame } from "./field-screen.ts";
import { topFrame } from "./frame.ts";
import { type Event } from "../../core/run/event.ts";
import { emptyState, reduce } from "../../core/run/state.ts";
import type { ShownRun } from "../../core/view/run-rows.ts";
import { fieldOf } from "./layout.ts";
import { firstView } from "./view.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const look = createLook({ color: true, unicode: true });

type Screen = Readonly<{
  write(text: string): void;
  resize(columns: number, rows: number): void;
  shown(): Promise<string[]>;
}>;

/** A terminal in memory. */
function virtualTerminal(columns: number, rows: number): Screen {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  return {
    write: (text) => terminal.write(text),
    resize: (width, height) => terminal.resize(width, height),
    shown: async () => {
      await new Promise<void>((done) => terminal.write("", done));
      const { active } = terminal.buffer;
      return Array.from({ length: terminal.rows }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
    },
  };
}

/** Names that break rows: wide, combining, joined, reordered, or with terminal sequences in them. */
const hostile = fc.oneof(
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "日本語のテキスト",
      "👩‍👩‍👧‍👦 family",
      "👩‍👩‍👧‍👦".repeat(20),
      "🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉",
      "e\u0301\u0301\u0301",
      "\u0301 first",
      "\u200d\u200d",
      "🇩🇪🇫🇷",
      "\u001b[2J\u001b[H",
      "a\u202eb",
      "\ttab\r\n",
      "ก็ก็",
      "👍🏽",
      "\u1160\u1161",
      "ﷺ",
      "1️⃣",
    ),
  },
);

/** Widths of the fields of a row; each frame may use another layout. */
const layouts = [[4, 20, 6, 50], [4, 10, 66], [80], [2, 2, 30, 12, 12, 22]] as const;

const row = fc.tuple(fc.nat(layouts.length), fc.array(hostile, { minLength: 6, maxLength: 6 }), fc.boolean());
const first = fc.array(row, { minLength: 3, maxLength: 3 });
/** Mostly one field of one row changes; sometimes a whole row, or the width of the terminal. */
const change = fc.oneof(
  { weight: 6, arbitrary: fc.record({ at: fc.nat(2), field: fc.nat(5), text: hostile }) },
  { weight: 1, arbitrary: fc.record({ at: fc.nat(2), row }) },
  { weight: 1, arbitrary: fc.record({ columns: fc.constantFrom(80, 33, 120) }) },
);
type Rows = readonly (readonly [number, readonly string[], boolean])[];
type Drawn = Readonly<{ columns: number; rows: Rows }>;

function changed({ columns, rows }: Drawn, by: typeof change extends fc.Arbitrary<infer T> ? T : never): Drawn {
  if ("columns" in by) return { columns: by.columns, rows };
  if ("row" in by) return { columns, rows: rows.with(by.at, by.row) };
  const [layout, texts, bold] = rows[by.at]!;
  return { columns, rows: rows.with(by.at, [layout, texts.with(by.field, by.text), bold]) };
}

function frameFrom({ columns, rows }: Drawn): FieldFrame {
  return {
    columns,
    rows: rows.map(([layout, texts, bold]) => {
      let at = 0;
      return (layouts[layout] ?? []).flatMap((wanted, index) => {
        const width = Math.min(wanted, columns - at);
        if (width < 1) return [];
        const field = fieldOf(terminalLine(texts[index]!), { at, width }, look, bold ? look.colors.bold : undefined);
        at += width;
        return [field];
      });
    }),
  };
}

test("the drawn screen equals a full redraw, whatever the texts, layouts and sizes", async () => {
  await fc.assert(
    fc.asyncProperty(first, fc.array(change, { minLength: 1, maxLength: 8 }), async (rows, changes) => {
      let drawn: Drawn = { columns: 80, rows };
      const frames = [drawn, ...changes.map((by) => (drawn = changed(drawn, by)))].map(frameFrom);
      const terminal = virtualTerminal(frames[0]!.columns, 3);
      const screen = new FieldScreen(terminal.write);
      for (const each of frames) {
        terminal.resize(each.columns, 3);
        screen.draw(each);
      }
      const fresh = virtualTerminal(frames.at(-1)!.columns, 3);
      new FieldScreen(fresh.write).draw(frames.at(-1)!);
      expect(await terminal.shown()).toEqual(await fresh.shown());
    }),
    { numRuns: propertyRuns(120) },
  );
});

/** A run with this many tasks; each step gives one of them another turn. */
function stepping(count: number): Readonly<{ run: ShownRun; step(at: number, text: string): void }> {
  const state = emptyState("run_1");
  let seq = 0;
  const tell = (path: string, fact: object): void => {
    seq += 1;
    reduce(state, { seq, run: "run_1", at: 1_000, path, ...fact } as unknown as Event);
  };
  tell("", { type: "run.started", plan: { nodes: {}, output: "t0" }, cwd: "/w", version: "1" });
  for (let index = 0; index < count; index++)
    tell(`t${index}`, {
      type: "node.started",
      kind: "task",
      attempt: 1,
      agent: "explore",
      label: `task number ${index}`,
    });
  return {
    run: { id: "run_1", state, life: "running", problems: [] },
    step: (at, text) =>
      tell(`t${at % count}`, { type: "tool.started", call: "c", tool: "bash", preview: text, effect: "read" }),
  };
}

test("a frame is one synchronised write of the changes, and there is none when nothing changed", () => {
  const { run, step } = stepping(200);
  const writes: string[] = [];
  const screen = new FieldScreen((text) => writes.push(text));
  const draw = (): void =>
    screen.draw(
      topFrame({ title: "watch", runs: [run], one: true, hidden: [] }, firstView, {
        columns: 80,
        height: 24,
        now: 5_000,
        look,
      }),
    );
  draw();
  draw();
  expect(writes).toHaveLength(1);
  step(3, "npm test");
  draw();
  expect(writes).toHaveLength(2);
  expect(writes[1]).toMatch(/^\u001b\[\?2026h.*npm test.*\u001b\[\?2026l$/);
  expect(writes[1]).not.toContain("\u001b[2J");
  expect(writes[1]!.length).toBeLessThan(90);
});

test("closing restores the main screen, wrapping, the cursor and the title, once", () => {
  const writes: string[] = [];
  const screen = new FieldScreen((text) => writes.push(text));
  screen.close();
  expect(writes).toEqual([]);
  screen.draw({ columns: 10, rows: [[]] });
  screen.close();
  screen.close();
  expect(writes.slice(1)).toEqual(["\u001b[?7h\u001b[?1049l\u001b[?25h\u001b[23;0t"]);
});
