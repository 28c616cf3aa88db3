import { isActive, type Question } from "../../core/run/run-status.ts";
import { defined } from "../../core/text/defined.ts";
import { edit, type TextEditor, emptyEditor, withText } from "../input/editor.ts";
import type { Key } from "../input/keys.ts";
import { commandFor, type RowAction, rowActions } from "../../core/view/row-actions.ts";
import type { ShownRun, TopRow } from "../../core/view/run-rows.ts";

/** The state of the screen that the person controls: selection, filter, list form, and typed text. */
export type TopView = Readonly<{
  /**
   * The id of the selected row. `undefined` when that row has disappeared, so that a key press does not act on another
   * row.
   */
  selected: string | undefined;
  /** The position of the selected row; the arrow keys continue from it when the row has disappeared. */
  at: number;
  filter: string;
  shape: "tree" | "flat";
  /** True when runs of all projects are listed, not only runs of this project. */
  everywhere: boolean;
  peek: boolean;
  /** The row that was answered last, until another key is pressed: a key pressed twice answers only one question. */
  answered?: string | undefined;
  /** A message about the result of the last action. */
  note: string;
  /**
   * The run that the message is about, if it was active then. The message disappears when the run is no longer active.
   */
  noteOf?: string | undefined;
  mode: TopMode;
}>;

/** The current meaning of key presses: move in the list, close the help, type a text, or confirm an action. */
export type TopMode =
  | Readonly<{ kind: "list" }>
  | Readonly<{ kind: "help" }>
  | Readonly<{ kind: "typing"; what: Typing; row: TopRow | undefined; editor: TextEditor }>
  | Readonly<{ kind: "confirm"; row: TopRow; text: string }>;
export type Typing = "filter" | "message" | "deny" | "answer";

export const firstView: TopView = {
  selected: undefined,
  at: 0,
  filter: "",
  shape: "tree",
  everywhere: false,
  peek: false,
  note: "",
  mode: { kind: "list" },
};

/** An action that a key press asks the program to carry out. */
export type Act =
  | Readonly<{ do: "quit" }>
  | Readonly<{ do: "open"; row: TopRow; page: "transcript" | "diff" }>
  | Readonly<{
      do: "answer";
      question: Question;
      answer: { approve: boolean; text?: string; always?: true; network?: true };
    }>
  | Readonly<{ do: "message"; row: TopRow; text: string }>
  /** Runs a subcrew command; `words` are its arguments. */
  | Readonly<{ do: "command"; words: readonly string[] }>
  | Readonly<{ do: "copy"; text: string }>;

export type Pressed = Readonly<{ view: TopView; act?: Act }>;

/** The selected row, if the list contains it. */
export const selectedRow = (rows: readonly TopRow[], view: TopView): TopRow | undefined =>
  rows[indexOfSelected(rows, view)];

/**
 * The index of the selected row; -1 when the list does not contain it. The selected row seldom moves, so its last index
 * is tried first.
 */
export function indexOfSelected(rows: readonly TopRow[], { selected, at }: TopView): number {
  if (selected === undefined) return -1;
  return rows[at]?.key === selected ? at : rows.findIndex(({ key }) => key === selected);
}

/**
 * The view after the list has changed. At the start the first row is selected; when the selected row disappears, no row
 * is selected.
 */
export function keepSelection(rows: readonly TopRow[], view: TopView): TopView {
  if (view.selected === undefined) return view.at === 0 && view.note === "" ? select(rows, view, 0) : view;
  const at = indexOfSelected(rows, view);
  if (at >= 0) return at === view.at ? view : { ...view, at };
  // No key acts on a row while a filter is typed, so the first match may be selected.
  if (view.mode.kind === "typing" && view.mode.what === "filter") return select(rows, view, 0);
  return { ...view, selected: undefined, note: view.note === "" ? "The selected row is no longer listed." : view.note };
}

function select(rows: readonly TopRow[], view: TopView, at: number): TopView {
  const index = Math.max(0, Math.min(rows.length - 1, at));
  return { ...view, selected: rows[index]?.key, at: index };
}

/** The view without a message, such as "is being paused", about a run that is no longer active. */
export function withoutOldNote(runs: readonly ShownRun[], view: TopView): TopView {
  const run = view.noteOf === undefined ? undefined : runs.find(({ id }) => id === view.noteOf);
  return run === undefined || run.life === "damaged" || isActive(run.life)
    ? view
    : { ...view, note: "", noteOf: undefined };
}

/** Handles a key. `rows` are the rows on the screen, `page` is the number of visible rows. */
export function press(rows: readonly TopRow[], view: TopView, key: Key, page: number): Pressed {
  if (key.ctrl && key.name === "c") return { view, act: { do: "quit" } };
  switch (view.mode.kind) {
    case "help":
      return { view: { ...view, mode: LIST } };
    case "typing":
      return typed(view, view.mode, key);
    case "confirm":
      return confirmed(view, view.mode, key);
    case "list":
      return pressedInList(rows, { ...view, note: "", noteOf: undefined }, key, page);
  }
}

const LIST: TopMode = { kind: "list" };

/** The form of the list that a key switches to. */
export const nextShape: Readonly<Record<TopView["shape"], TopView["shape"]>> = { tree: "flat", flat: "tree" };

function pressedInList(rows: readonly TopRow[], view: TopView, key: Key, page: number): Pressed {
  const move = moves[key.name];
  if (move && !key.ctrl && !key.alt)
    return { view: { ...select(rows, view, move(view, rows.length, page)), answered: undefined } };
  const row = selectedRow(rows, view);
  const type = (what: Typing, text = ""): Pressed => ({
    view: { ...view, mode: { kind: "typing", what, row, editor: withText(emptyEditor, text) } },
  });
  switch (key.name) {
    case "q":
      return { view, act: { do: "quit" } };
    case "escape":
      return view.filter === "" ? { view, act: { do: "quit" } } : { view: { ...view, filter: "" } };
    case "?":
    case "h":
      return { view: { ...view, mode: { kind: "help" } } };
    case "/":
      return type("filter", view.filter);
    case "t":
      return { view: reshaped(view, row) };
    case "e":
      return { view: { ...view, everywhere: !view.everywhere } };
    case " ":
      return { view: { ...view, peek: !view.peek } };
    default:
      break;
  }
  const action = row && rowActions(row).find(({ key: name }) => name === key.name);
  if (row && action && isAnswer(action) && row.key === view.answered)
    return { view: { ...view, note: "The answer was sent. Press another key before the next answer." } };
  return row && action ? begun({ ...view, answered: undefined }, row, action, type) : { view };
}

const ANSWERS: ReadonlySet<RowAction["does"]> = new Set(["allow", "always", "network", "deny", "answer"]);
const isAnswer = ({ does }: RowAction): boolean => ANSWERS.has(does);

/** Switches to the other form. The row stays selected if the new form contains it. */
function reshaped(view: TopView, row: TopRow | undefined): TopView {
  const next: TopView = { ...view, shape: nextShape[view.shape] };
  return row?.path === "" ? { ...next, selected: undefined, at: 0 } : next;
}

const moves: Readonly<Record<string, (view: TopView, count: number, page: number) => number>> = {
  up: ({ at }) => at - 1,
  k: ({ at }) => at - 1,
  down: ({ at, selected }) => (selected === undefined ? at : at + 1),
  j: ({ at, selected }) => (selected === undefined ? at : at + 1),
  pageup: ({ at }, _, page) => at - page,
  pagedown: ({ at }, _, page) => at + page,
  home: () => 0,
  g: () => 0,
  end: (_, count) => count - 1,
  G: (_, count) => count - 1,
};

function begun(view: TopView, row: TopRow, action: RowAction, type: (what: Typing) => Pressed): Pressed {
  switch (action.does) {
    case "open":
      return { view, act: { do: "open", row, page: "transcript" } };
    case "diff":
      return { view, act: { do: "open", row, page: "diff" } };
    case "allow":
      return answered(view, row, { approve: true });
    case "always":
      return answered(view, row, { approve: true, always: true });
    case "network":
      return answered(view, row, { approve: true, network: true });
    case "deny":
    case "answer":
    case "message":
      return type(action.does);
    case "cancel":
      return { view: { ...view, mode: { kind: "confirm", row, text: action.warns ?? "" } } };
    case "copy":
      return { view, act: { do: "copy", text: commandFor(row) } };
    case "pause":
    case "resume":
    case "retry":
      return { view, act: { do: "command", words: action.words ?? [] } };
  }
}

/** After an answer the row stays selected, and takes the next answer only after another key. */
const answered = (view: TopView, row: TopRow, answer: Extract<Act, { do: "answer" }>["answer"]): Pressed => ({
  view: { ...view, answered: row.key, note: "The answer is being sent." },
  act: { do: "answer", question: questionOf(row), answer },
});

/** The open question of a row, exactly as the person saw it. */
function questionOf({ run, path, node }: TopRow): Question {
  const { question = "", call, askedAt = 0, agent } = node ?? {};
  return { run: run.id, path, question, askedAt, ...defined({ call, agent }) };
}

function typed(view: TopView, mode: Extract<TopMode, { kind: "typing" }>, key: Key): Pressed {
  const { what, row } = mode;
  const text = mode.editor.text.trim();
  if (key.name === "escape") return { view: { ...view, mode: LIST } };
  if (key.name === "enter") {
    const back = { ...view, mode: LIST };
    if (what === "filter") return { view: { ...back, filter: text } };
    if (!row) return { view: back };
    if (what === "message") return text === "" ? { view: back } : { view: back, act: { do: "message", row, text } };
    if (what === "answer" && text === "") return { view: back };
    const answer = { approve: what === "answer", ...(text !== "" && { text }) };
    return answered(back, row, answer);
  }
  const editor = edit(mode.editor, key);
  if (!editor) return { view };
  const one = { ...editor, text: editor.text.replaceAll("\n", " ") };
  const next = { ...view, mode: { ...mode, editor: one } };
  return { view: what === "filter" ? { ...next, filter: one.text } : next };
}

function confirmed(view: TopView, { row }: Extract<TopMode, { kind: "confirm" }>, key: Key): Pressed {
  const back = { ...view, mode: LIST };
  return key.name === "y" ? { view: back, act: { do: "command", words: ["cancel", row.key] } } : { view: back };
}
