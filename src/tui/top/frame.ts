import { fit, widthOf } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { counted, terminalLine } from "../../core/view/words.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import type { TextEditor } from "../input/editor.ts";
import { clustersOf, wrap } from "../wrap.ts";
import { rowActions } from "../../core/view/row-actions.ts";
import { cellOf } from "../../core/view/row-cells.ts";
import type { Field, FieldFrame } from "./field-screen.ts";
import { parseFilter, stateWords } from "../../core/view/row-filter.ts";
import { type Group, groups } from "../../core/view/row-groups.ts";
import { movesOf } from "../../core/schedule/moves.ts";
import { remembering } from "../remember.ts";
import { help } from "./help.ts";
import { rowFields } from "./row-fields.ts";
import { diffPaint, fieldOf, layoutFor } from "./layout.ts";
import { type RowOptions, rowsOf, type ShownRun, type TopRow } from "../../core/view/run-rows.ts";
import { indexOfSelected, nextShape, selectedRow, type TopView, type Typing } from "./view.ts";

/** The data that the screen shows. Selection and typed text are in `TopView`. */
export type TopState = Readonly<{
  title: string;
  runs: readonly ShownRun[];
  one: boolean;
  /** Sentences with the number of runs that are not loaded or belong to other projects. */
  hidden: readonly string[];
  /** The full question of a row; a file change is shown as a diff. */
  asked?: Readonly<{ key: string; lines: readonly string[] }> | undefined;
}>;

/**
 * The data that a drawing depends on besides the content: the size of the terminal, the current time, and the colours
 * and symbols.
 */
export type Canvas = Readonly<{ columns: number; height: number; now: number; look: Look }>;

/** The rows that match the filter, all rows, and the filter words that are not understood. */
export type ListedRows = Readonly<{
  rows: readonly TopRow[];
  all: readonly TopRow[];
  unknown: readonly string[];
}>;

/** Lists the rows of the runs and applies the filter. */
export function listedRows({ runs, one }: TopState, { shape, filter }: TopView): ListedRows {
  const { matches, unknown } = parseFilter(filter);
  const options: RowOptions = { one, shape };
  const all = rowsOf(runs, options);
  if (!matches) return { rows: all, all, unknown };
  // The parent of a matching row may not match, so the result is drawn as a flat list.
  const kept = all.filter(matches);
  return { rows: kept.map((row) => (row.depth > 0 ? { ...row, depth: 0 } : row)), all, unknown };
}

/** The number of list rows that fit between the title and the keys. */
export function listHeight(height: number, columns: number): number {
  return Math.max(0, height - (isLow(height) ? 3 : HEAD_ROWS + 1 + keyRows(columns)));
}

const HEAD_ROWS = 2;
/** In a low terminal the headings and the second row of keys are left out, so that a row of the list is shown. */
const isLow = (height: number): boolean => height < 8;
/** The number of rows for the keys: two in a narrow terminal. */
const keyRows = (columns: number): number => (columns < 160 ? 2 : 1);

/** Draws the screen: title and counts, the groups with their rows, hidden runs, and the keys of the selected row. */
export function topFrame(
  state: TopState,
  view: TopView,
  canvas: Canvas,
  { rows, all, unknown }: ListedRows = listedRows(state, view),
): FieldFrame {
  const { columns, height, look } = canvas;
  const selected = selectedRow(rows, view);
  const { counts } = partsOf(all);
  const title = titleRow(state.title, state.one, counts, columns, look);
  const head = isLow(height) ? [title] : [title, view.mode.kind === "help" ? NO_FIELDS : headingRow(columns, look)];
  const keys = view.mode.kind === "list" && keysRows(...keysOf(state, view, selected), columns, look);
  const tall = keys || footRows(view, { ...canvas, inRow: isInRow(view) });
  const low = view.mode.kind === "confirm" ? tall.rows.slice(-1) : tall.rows.slice(0, 1);
  const foot = isLow(height) ? { ...tall, rows: low } : tall;
  const room = Math.max(0, height - head.length - 1 - foot.rows.length);
  const peek = selected ? peekRows(state, selected, canvas, peekHeight(view, rows, selected, room)) : [];
  const body =
    view.mode.kind === "help"
      ? helpRows(canvas, room)
      : listRows(rows, view, { ...canvas, height: room - peek.length });
  const hidden = [
    ...(body.above > 0 ? [`${body.above} above`] : []),
    ...(body.below > 0 ? [`${body.below} below`] : []),
    ...(all.length > rows.length ? [`${all.length - rows.length} do not match "${terminalLine(view.filter)}"`] : []),
    ...unknown.map((word) => `"${terminalLine(word)}" is not a state; use is:${stateWords[0]} and so on`),
    ...state.hidden,
  ];
  const about = hidden.length > 0 ? `hidden: ${hidden.join(look.signs.dot)}` : "";
  const status = line(
    [view.note, about].filter((part) => part !== "").join(look.signs.dot),
    canvas,
    view.note === "" ? look.colors.dim : look.colors.yellow,
  );
  const filler = emptyRows(room - peek.length - body.rows.length);
  const whole = [...head, ...body.rows, ...filler, ...peek, status, ...foot.rows];
  const cut = whole.slice(0, height);
  const cursor =
    body.cursor !== undefined
      ? { row: head.length + body.cursor.row, column: Math.min(columns - 1, body.cursor.column) }
      : foot.cursor === undefined
        ? undefined
        : { row: whole.length - foot.rows.length, column: Math.min(columns - 1, foot.cursor) };
  return { columns, rows: cut, ...(cursor && cursor.row < cut.length && { cursor }) };
}

type Row = readonly Field[];
const NO_FIELDS: Row = [];
const emptyRows = (length: number): readonly Row[] => Array.from({ length: Math.max(0, length) }, () => NO_FIELDS);

/** A row that consists of one field as wide as the terminal. */
function line(text: string, { columns, look }: Pick<Canvas, "columns" | "look">, paint?: Field["paint"]): Row {
  return text === "" ? [] : [fieldOf(text, { at: 0, width: columns + 1 }, look, paint)];
}

/** The number of list rows in each group, in the order of the groups, and the indexes at which groups begin. */
type Parts = Readonly<{ counts: readonly number[]; starts: readonly number[] }>;

/** The parts of a list, cached while the list stays the same object. */
export function partsOf(rows: readonly TopRow[]): Parts {
  const known = parts.get(rows);
  if (known) return known;
  const counts = groups.map(() => 0);
  const starts: number[] = [];
  for (const [at, { group }] of rows.entries()) {
    counts[groups.indexOf(group)]! += 1;
    if (at === 0 || group !== rows[at - 1]!.group) starts.push(at);
  }
  parts.set(rows, { counts, starts });
  return { counts, starts };
}
const parts = new WeakMap<readonly TopRow[], Parts>();

const titleRow = remembering((title: string, one: boolean, all: Parts["counts"], columns: number, look: Look): Row => {
  const { colors, signs } = look;
  const counts = groups.flatMap((group, at) => {
    const count = all[at]!;
    return count === 0 ? [] : [`${count} ${group === "needs you" && count > 1 ? "need you" : group}`];
  });
  const text = counts.join(signs.dot) || (one ? "no tasks" : "no runs");
  const width = widthOf(text) + 1;
  const name = columns - width - 2;
  if (name < 8) return line(text, { columns, look }, colors.bold);
  return [
    fieldOf(title, { at: 0, width: name }, look, colors.bold),
    { column: columns - width + 1, width: width - 1, text },
  ];
});

const headingRow = remembering((columns: number, look: Look): Row => {
  const { name, shown } = layoutFor(columns);
  const { dim } = look.colors;
  return [
    { column: 0, width: name.at, text: "" },
    fieldOf("NAME", name, look, dim),
    ...shown.map((span) => fieldOf(headings[span.column] ?? span.column.toUpperCase(), span, look, dim)),
  ];
});

const headings: Readonly<Record<string, string>> = { context: "CTX", doing: "DOING" };

type Body = Readonly<{
  rows: readonly Row[];
  above: number;
  below: number;
  /** The position of the cursor, in the row where an answer is typed. */
  cursor?: Readonly<{ row: number; column: number }>;
}>;

const nothingListed = (view: TopView, canvas: Canvas): Body => ({
  rows: [line(view.filter === "" ? "Nothing to show." : "No row matches the filter. Esc clears it.", canvas)],
  above: 0,
  below: 0,
});

/**
 * The part of the list around the selected row, with a heading per group. Nothing is computed for rows that are not
 * shown.
 */
function listRows(rows: readonly TopRow[], view: TopView, canvas: Canvas): Body {
  const { height, look, now } = canvas;
  if (rows.length === 0) return nothingListed(view, canvas);
  const room = Math.max(0, height);
  const index = Math.max(0, indexOfSelected(rows, view));
  const { counts, starts: headings } = partsOf(rows);
  const lines = rows.length + headings.length;
  const at = index + headings.filter((each) => each <= index).length;
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), lines - room));
  const layout = layoutFor(canvas.columns);
  const typing = view.mode.kind === "typing" && isInRow(view) ? view.mode : undefined;
  const answer = typing && typedField(typing, layout, canvas);
  const shown: Row[] = [];
  let cursor: Body["cursor"];
  let next = Math.max(0, from - headings.filter((each, before) => each + before < from).length);
  const above = next;
  for (let place = from; place < Math.min(lines, from + room); place += 1) {
    const row = rows[next]!;
    const before = headings.indexOf(next);
    if (before >= 0 && next + before === place) {
      const count = counts[groups.indexOf(row.group)]!;
      shown.push(line(`${row.group.toUpperCase()} (${count})`, canvas, groupPaints(look)[row.group]));
      continue;
    }
    if (answer && row.key === typing?.row?.key) {
      cursor = { row: shown.length, column: answer.cursor };
      const nameOnly = rowFields(row, { selected: true, layout: { ...layout, shown: [] }, look, now });
      shown.push([...nameOnly, answer.field]);
    } else shown.push(rowFields(row, { selected: row.key === view.selected, layout, look, now }));
    next += 1;
  }
  return { ...(cursor && { cursor }), rows: shown, above, below: rows.length - next };
}

/** True when the typed text is shown in the row that it belongs to. */
const isInRow = ({ mode, selected }: TopView): boolean =>
  mode.kind === "typing" && mode.what !== "filter" && mode.row?.key === selected;

/** The typed text, in the columns after the name. */
function typedField(
  { what, editor }: Extract<TopView["mode"], { kind: "typing" }>,
  { name }: ReturnType<typeof layoutFor>,
  { columns, look }: Canvas,
): Readonly<{ field: Field; cursor: number }> {
  const at = name.at + name.width;
  const { text, cursor } = typedText(`${what}: `, editor, Math.max(1, columns - at));
  return { field: fieldOf(text, { at, width: columns - at + 1 }, look, look.colors.yellow), cursor: at + cursor };
}

/** A prompt, as much of the text before the cursor as fits, and the cursor column. */
function typedText(prompt: string, editor: TextEditor, columns: number): Readonly<{ text: string; cursor: number }> {
  const room = Math.max(1, columns - widthOf(prompt) - 1);
  const clean = (part: string): string => sanitize(part.replace(/\s/g, " "));
  const before = clean(editor.text.slice(0, editor.cursor));
  let start = before;
  while (widthOf(start) > room) start = clustersOf(start).slice(1).join("");
  return {
    text: `${prompt}${start}${clean(editor.text.slice(editor.cursor))}`,
    cursor: widthOf(prompt) + widthOf(start),
  };
}

const groupPaints = remembering(({ colors }: Look): Readonly<Record<Group, NonNullable<Field["paint"]>>> => {
  const { bold } = colors;
  return {
    "needs you": (text) => bold(colors.yellow(text)),
    failed: (text) => bold(colors.red(text)),
    working: bold,
    waiting: bold,
    done: bold,
  };
});

/**
 * The maximum number of rows for the details of the selected row: half of the space, or the rows that the list does not
 * need. A question is shown whenever there is space.
 */
function peekHeight(view: TopView, rows: readonly TopRow[], selected: TopRow, room: number): number {
  const free = room - rows.length - partsOf(rows).starts.length - 1;
  if (view.peek) return Math.max(Math.floor(room / 2), free);
  return selected.group === "needs you" && view.mode.kind !== "help" && free >= LEAST_PEEK ? free : 0;
}
const LEAST_PEEK = 5;

/** The full question, error or result of the selected row. */
function peekRows({ asked }: TopState, row: TopRow, canvas: Canvas, most: number): Row[] {
  if (most < 1) return [];
  const { node, run, key } = row;
  const outcome = row.path === "" ? run.state.outcome : node?.outcome;
  const ending =
    outcome?.status === "failed"
      ? [outcome.fault.message, outcome.fault.hint ?? "", outcome.output ?? ""].join("\n")
      : undefined;
  const result = outcome && "output" in outcome ? (outcome.output ?? "") : undefined;
  const text =
    node?.question ??
    ending ??
    result ??
    (node?.text || node?.said || node?.partial || cellOf(row, "doing", canvas.now));
  const full = node?.question !== undefined && asked?.key === key ? asked.lines : text.slice(0, MOST_PEEK).split("\n");
  // Leading spaces are kept: arguments are indented, so that none of them looks like a part of the question.
  const lines = full.flatMap((each) => {
    const start = /^ {0,8}/.exec(each)?.[0] ?? "";
    return wrap([{ text: terminalLine(each) }], canvas.columns - 2, { first: start });
  });
  const room = Math.max(0, most - 1);
  const shown = lines.slice(0, room);
  const more = lines.length - shown.length;
  const title = `${key}${more > 0 ? ` (${counted(more, "more row")}: open it)` : ""}`;
  return [
    line(terminalLine(title), canvas, canvas.look.colors.bold),
    ...shown.map((each) =>
      line(`  ${each}`, canvas, asked?.key === key ? diffPaint(each.trimStart(), canvas.look) : undefined),
    ),
  ];
}

const MOST_PEEK = 20_000;

type Foot = Readonly<{ rows: readonly Row[]; cursor?: number }>;

const filled = (rows: readonly Row[], columns: number): readonly Row[] => [
  ...rows,
  ...emptyRows(keyRows(columns) - rows.length),
];

/** The data that determines the keys of the selected row. */
type KeysOf = [row: TopRow | undefined, moves: number, filter: string, shape: TopView["shape"], project: string];

function keysOf({ one }: TopState, { filter, shape, everywhere }: TopView, row: TopRow | undefined): KeysOf {
  return [row, row ? movesOf(row.run.state) : 0, filter, shape, one ? "" : everywhere ? "this project" : "everywhere"];
}

/** The keys of the selected row. */
const keysRows = remembering((...[row, , filter, shape, project, columns, look]: [...KeysOf, number, Look]): Foot => {
  const keys: (readonly [string, string])[] = [
    ...(row ? rowActions(row, { warns: false }).map(({ key, word }) => [key, word] as const) : []),
    ["up/down", "move"],
    ["space", "peek"],
    ["/", filter === "" ? "filter" : "change filter"],
    ["t", nextShape[shape]],
    ...(project === "" ? [] : [["e", project] as const]),
    ["?", "help"],
    ["q", "quit"],
  ];
  const lines = keyLines(keys, columns, keyRows(columns));
  return {
    rows: filled(
      lines.map((text) => line(text, { columns, look })),
      columns,
    ),
  };
});

/** The last rows while a question or an input field is open. */
function footRows({ mode }: TopView, canvas: Canvas & Readonly<{ inRow: boolean }>): Foot {
  const { columns, look, inRow } = canvas;
  const fill = (rows: readonly Row[]): readonly Row[] => filled(rows.slice(0, keyRows(columns)), columns);
  if (mode.kind === "typing") {
    const help = `Enter sends, Esc goes back${mode.what === "deny" ? "; the text may be empty" : ""}`;
    if (inRow) return { rows: fill([line(help, canvas, look.colors.dim)]) };
    const { text, cursor } = typedText(`${prompts[mode.what]}: `, mode.editor, columns);
    return { rows: fill([line(text, canvas), line(help, canvas, look.colors.dim)]), cursor };
  }
  if (mode.kind === "confirm") return { rows: fill(confirmRows(mode.text, canvas)) };
  return { rows: fill([line("any key goes back", canvas, look.colors.dim)]) };
}

/** The question in the rows for keys. The keys that answer it are always shown; the text is cut if it does not fit. */
function confirmRows(text: string, { columns, look }: Canvas): Row[] {
  const keys = "[y] yes, any other key: no";
  const lines = wrap([{ text: terminalLine(text) }], columns - 1);
  const room = columns - widthOf(keys) - 2;
  const rows = keyRows(columns);
  const paint = look.colors.yellow;
  const start = lines.slice(0, rows - 1);
  const rest = lines.slice(rows - 1).join(" ");
  const cut = rest === "" ? "" : `${fit(rest, Math.max(0, room), look.signs.more)} `;
  return [...start, `${cut}${keys}`].map((each) => line(each, { columns, look }, paint));
}

const prompts: Readonly<Record<Typing, string>> = {
  filter: "filter (is:failed agent:explore text)",
  message: "message",
  deny: "deny, what to change (may be empty)",
  answer: "answer",
};

/** As many keys as fit in the row; the keys for help and quit are always shown. */
function keyLines(keys: readonly (readonly [string, string])[], columns: number, most: number): string[] {
  const lines = [""];
  for (const [key, word] of keys) {
    const text = `${key} ${word}`;
    const last = lines.at(-1)!;
    if (last === "") lines[lines.length - 1] = text;
    else if (last.length + 2 + text.length < columns) lines[lines.length - 1] = `${last}  ${text}`;
    else lines.push(text);
  }
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, most);
  const tail = "  ? help  q quit";
  // A key is useless without its label, so whole keys are dropped.
  const words = kept[most - 1]!.split("  ");
  while (words.length > 0 && words.join("  ").length + tail.length >= columns) words.pop();
  kept[most - 1] = `${words.join("  ")}${tail}`.trimStart();
  return kept;
}

function helpRows(canvas: Canvas, room: number): Body {
  const rows = help.map(([key, what]) => line(`${key.padEnd(16)}${what}`, canvas));
  return { rows: rows.slice(0, room), above: 0, below: Math.max(0, rows.length - room) };
}
