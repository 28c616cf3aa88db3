import type { Cost } from "../../core/outcome/usage.ts";
import { movesOf } from "../../core/schedule/moves.ts";
import { lastRow } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { cellOf, isWriting } from "../../core/view/row-cells.ts";
import { shownEnd, type TopRow } from "../../core/view/run-rows.ts";
import type { Field } from "./field-screen.ts";
import { fieldOf, type Layout } from "./layout.ts";

/** The style, layout and time of drawing a row. */
export type RowDrawing = Readonly<{ selected: boolean; layout: Layout; look: Look; now: number }>;

/**
 * The fields of a row. An unchanged field, and an unchanged row, is the same object as before, because in most frames
 * only the activity of some tasks changes.
 */
export function rowFields(row: TopRow, drawing: RowDrawing): readonly Field[] {
  const known = drawn.get(row);
  if (!known || !isDrawnAlike(known, drawing) || !hasSameFacts(known.facts, row)) {
    const made = newlyDrawn(row, drawing);
    drawn.set(row, made);
    return made.fields;
  }
  const { doing, age } = known;
  if (doing && !isSameActivity(doing.of, row)) {
    doing.of = activityOf(row);
    replace(known, doing.at, doingField(row, drawing, doing.at));
  }
  if (age && age.seconds !== secondsOf(row, drawing.now)) {
    age.seconds = secondsOf(row, drawing.now);
    replace(known, age.at, plainField(row, drawing, age.at));
  }
  return known.fields;
}

/** The last drawing of a row: its fields and the data they were made from. */
type Drawn = Omit<RowDrawing, "now"> & {
  readonly facts: Facts;
  /** The data of the activity column and its index in the layout; absent when the column is not shown. */
  readonly doing: { readonly at: number; of: Activity } | undefined;
  readonly age: { readonly at: number; seconds: number } | undefined;
  fields: readonly Field[];
};
const drawn = new WeakMap<TopRow, Drawn>();

/** The number of fields before the columns of the layout: mark, sign, name. */
const BEFORE = 3;

function newlyDrawn(row: TopRow, drawing: RowDrawing): Drawn {
  const { selected, layout, look, now } = drawing;
  const strong = selected ? look.colors.bold : undefined;
  const sign = signOf(row, look);
  const text =
    row.depth > 0
      ? `${"  ".repeat(Math.min(row.depth, 8) - 1)}${look.signs.frame[2]} ${row.name}`
      : `${row.name}${row.inside === "" ? "" : ` (in ${row.inside})`}`;
  const doing = layout.shown.findIndex(({ column }) => column === "doing");
  const age = layout.shown.findIndex(({ column }) => column === "age");
  return {
    selected,
    layout,
    look,
    facts: factsOf(row),
    doing: doing < 0 ? undefined : { at: doing, of: activityOf(row) },
    age: age < 0 ? undefined : { at: age, seconds: secondsOf(row, now) },
    fields: [
      { column: 0, width: 2, text: selected ? ">" : " ", ...(strong && { paint: strong }) },
      { column: 2, width: 2, text: sign.text, paint: sign.paint },
      fieldOf(text, layout.name, look, strong),
      ...layout.shown.map((_, at) => (at === doing ? doingField : plainField)(row, drawing, at)),
    ],
  };
}

function replace(known: Drawn, at: number, field: Field): void {
  const old = known.fields[BEFORE + at]!;
  if (old.text !== field.text) known.fields = known.fields.with(BEFORE + at, field);
}

function plainField(row: TopRow, { layout, look, now }: RowDrawing, at: number): Field {
  const span = layout.shown[at]!;
  return fieldOf(cellOf(row, span.column, now, look), span, look, look.colors.dim);
}

function doingField(row: TopRow, { selected, layout, look, now }: RowDrawing, at: number): Field {
  const span = layout.shown[at]!;
  const cell = cellOf(row, "doing", now, look);
  const text = isWriting(row) ? lastRow(cell, span.width - 1) : cell;
  return fieldOf(text, span, look, selected ? look.colors.bold : undefined);
}

const isDrawnAlike = (known: Drawn, { selected, layout, look }: RowDrawing): boolean =>
  known.selected === selected && known.layout === layout && known.look === look;

/**
 * The data on which the fields of a row depend, without the activity, the age, and data that the row object itself
 * determines: a run with another plan or another diff has other rows. A turn replaces both totals, tokens and costs, by
 * new objects, so comparing one of them is enough.
 */
type Facts = Readonly<{
  cost: Cost | undefined;
  agent: string | undefined;
  model: string | undefined;
  limits: object | undefined;
  status: string;
}>;

function factsOf({ path, run, node }: TopRow): Facts {
  const cost = path === "" ? run.state.cost : node?.cost;
  const { agent, model, limits, status = "" } = node ?? {};
  return { cost, agent, model, limits, status };
}

function hasSameFacts(facts: Facts, { path, run, node }: TopRow): boolean {
  return (
    facts.cost === (path === "" ? run.state.cost : node?.cost) &&
    facts.agent === node?.agent &&
    facts.model === node?.model &&
    facts.limits === node?.limits &&
    (node === undefined || facts.status === node.status)
  );
}

/** The data of the activity column. For an idle node it changes only when its state changes. */
type Activity = Readonly<{ doing: string; text: string; partial: string; calls: boolean; moves: number }>;

const activityOf = ({ run, node }: TopRow): Activity => ({
  doing: node?.doing ?? "",
  text: node?.text ?? "",
  partial: node?.partial ?? "",
  calls: (node?.calling ?? 0) > 0,
  moves: movesOf(run.state),
});

function isSameActivity(activity: Activity, { run, node }: TopRow): boolean {
  if (activity.moves !== movesOf(run.state)) return false;
  return (
    node === undefined ||
    (activity.doing === node.doing &&
      activity.text === node.text &&
      activity.partial === node.partial &&
      activity.calls === node.calling > 0)
  );
}

/** The age of a row in whole seconds; -1 before it starts. */
function secondsOf({ node, run, path }: TopRow, now: number): number {
  const { startedAt } = path === "" ? run.state : (node ?? { startedAt: 0 });
  if (startedAt === 0) return -1;
  return Math.floor(((shownEnd(run, path === "" ? undefined : node) ?? now) - startedAt) / 1_000);
}

/** The symbol of a row, which shows its group and its result. */
function signOf(
  { group, node, run, path }: TopRow,
  { colors, signs }: Look,
): Readonly<{ text: string; paint: (text: string) => string }> {
  switch (group) {
    case "needs you":
      return { text: "?", paint: colors.yellow };
    case "failed":
      return { text: signs.failed, paint: colors.red };
    case "working":
      return { text: signs.spinner[0] ?? "|", paint: colors.cyan };
    case "waiting":
      return { text: "z", paint: colors.dim };
    case "done": {
      const ok = path === "" ? run.life === "ok" : node?.status === "ok";
      return ok ? { text: signs.ok, paint: colors.green } : { text: signs.none, paint: colors.dim };
    }
  }
}
