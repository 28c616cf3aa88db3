import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { RecordPiece, RunRecords } from "../../core/run/run-store.ts";
import { emptyState, reduce, type State } from "../../core/run/state.ts";
import { foldJournal, foldWhole } from "./fold-journal.ts";
import { damageText } from "./journal-records.ts";
import { readJournal } from "./read-journal.ts";
import { journalPieces } from "./read-journal.ts";
import { JOURNAL_FILE } from "./layout.ts";
import { encodeLine } from "../../../test/support/encode-line.ts";

const plan = { nodes: { a: { kind: "task", needs: [], task: { prompt: "x", refs: {} } } }, output: "a" };
const started = { type: "run.started", path: "", plan, cwd: "/", version: "0" };

/** A journal of these facts, in the order of their numbers. */
const journalOf = (facts: readonly object[], epochs: readonly number[] = []): string =>
  [started, ...facts]
    .map((fact, at) => encodeLine({ seq: at + 1, run: "r", at, ...fact } as unknown as KeptEvent, epochs[at] ?? 1))
    .join("");

const note = (chars: number, sign = "x"): object => ({
  type: "warning",
  path: "",
  code: "W",
  text: sign.repeat(chars),
});

/** The fold of the whole journal, with all of it in memory. */
const wholeOf = async (folder: string): Promise<State> =>
  (await readJournal(folder)).events.reduce(reduce, emptyState("r"));

/** A store whose only run is the journal in this folder. */
const piecesIn = (folder: string): Pick<RunRecords, "place"> & { read(): AsyncIterable<RecordPiece> } => ({
  place: () => folder,
  read: async function* () {
    for await (const piece of journalPieces(folder)) yield { ...piece, damage: piece.damage.map(damageText) };
  },
});

const inFolder = (text: string): string => tempFolder({ [JOURNAL_FILE]: text });

test.each([
  ["short records", journalOf(Array.from({ length: 20_000 }, () => note(150)))],
  ["a record longer than several pieces", journalOf([note(10), note(5_000_000), note(10)])],
  ["characters that are split by the end of a piece", journalOf(Array.from({ length: 30 }, () => note(40_001, "語")))],
  ["records that end exactly where a piece does", journalOf([note(1), ...exact(1 << 20)])],
  ["a torn end", `${journalOf(Array.from({ length: 3_000 }, () => note(500)))}{"crc":"0000`],
  ["a hole at the end", `${journalOf([note(3)])}${"\0".repeat(2_000_000)}\n`],
  ["an earlier owner that wrote too late", withLate()],
  ["nothing", ""],
])("folding a journal piece by piece gives the same state as folding it whole: %s", async (_, text) => {
  const folder = inFolder(text);
  expect(await foldJournal("r", piecesIn(folder).read())).toMatchObject({ state: await wholeOf(folder), damage: [] });
});

test("damage is found wherever it is, with its offset, and the rest is folded", async () => {
  const text = journalOf(Array.from({ length: 6_000 }, () => note(500)));
  for (const at of [1_000, 1_500_000, text.length - 600]) {
    const folder = tempFolder();
    writeFileSync(join(folder, JOURNAL_FILE), `${text.slice(0, at)}\u0001${text.slice(at + 1)}`);
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const { state, damage } = await foldJournal("r", piecesIn(folder).read());
    expect(damage).toEqual([expect.stringMatching(new RegExp(`damaged at byte ${start} \\(\\d+ bytes, record`))]);
    expect(state.warnings).toHaveLength(6_000 - 1);
    await expect(foldWhole(piecesIn(folder), "r")).rejects.toMatchObject({ code: "RUN_DAMAGED" });
  }
});

/** Records, the first of which ends at the last byte of a piece. */
function exact(bytes: number): object[] {
  const used = journalOf([note(1), note(0)]).length;
  return [note(bytes - used), note(7)];
}

function withLate(): string {
  const late = encodeLine({ seq: 2, run: "r", at: 1, ...note(4) } as unknown as KeptEvent, 1);
  return `${journalOf([note(9)], [2, 2])}${late}${encodeLine({ seq: 3, run: "r", at: 2, ...note(5) } as unknown as KeptEvent, 2)}`;
}
