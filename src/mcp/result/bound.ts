import { OMITTED } from "../../core/outcome/excerpt.ts";
import { keepEnds } from "../../core/text/cut.ts";
import { runUri, taskUri } from "./resource-uri.ts";
import type { RunView, TaskView } from "./view.ts";

/**
 * How many characters the text and the data of a tool result have at most. Hosts cut longer results, or fill the
 * context of their model with them. The `summaryChars` of an agent counts instead for its output.
 */
export const MAX_CHARS = 10_000;
/** The space for the mark between the beginning and the end of a text. */
const GAP_CHARS = 50;
/** The fewest characters of an output that are worth showing. */
const MIN_EXCERPT = 200;

/** A file of this machine with the output of a task; the path "" is the run itself. */
export type OutputFile = (run: string, path: string) => Promise<string | undefined>;

/** A text that fits, with its size and the places of the whole text at its end. */
export function boundText(text: string, places: readonly string[] = [], max: number = MAX_CHARS): string {
  if (text.length <= max) return text;
  const at = places.length === 0 ? "" : `: ${places.join(", ")}`;
  const note = `\n\n[The whole result has ${text.length} characters${at}]`;
  const room = max < 2 * note.length ? max : max - note.length;
  const { head, tail, omitted } = keepEnds(text, room - GAP_CHARS);
  return `${head}\n\n... [${omitted} ${OMITTED}] ...\n\n${tail}${note}`;
}

/** A run whose output fits into a text for a model. */
export async function boundOutput(view: RunView, fileOf: OutputFile): Promise<RunView> {
  const { run, output, summaryChars: max = MAX_CHARS } = view;
  if (output === undefined || output.length <= max) return view;
  return { ...view, output: boundText(output, await outputPlaces({ run, path: "" }, fileOf), max) };
}

type Place = Readonly<{ run: string; path: string }>;

/** Where a whole output is: its file, and its resource. */
export async function outputPlaces({ run, path }: Place, fileOf: OutputFile): Promise<readonly string[]> {
  const file = await fileOf(run, path).catch(() => undefined);
  const uri = path === "" ? `${runUri(run)}/output` : taskUri(run, path);
  return [...(file === undefined ? [] : [file]), uri];
}

/**
 * The data of a run, within so many characters of JSON. Outputs are cut to equal shares; a JSON value and the rows of
 * tasks that do not fit are left out. The resource of the run has all of it.
 */
export async function boundData(view: RunView, fileOf: OutputFile, max: number = MAX_CHARS): Promise<RunView> {
  const { output, data, tasks, summaryChars, ...facts } = view;
  const size = Math.max(max, summaryChars ?? 0);
  const value = data !== undefined && lengthOf(data) <= size / 2 ? { data } : {};
  const bare = tasks.map(({ output: _output, summaryChars: _chars, ...task }) => task);
  const rows = fitting(bare, size - lengthOf({ ...facts, ...value }) - MIN_EXCERPT);
  const left = tasks.length - rows.length;
  const whole = { ...facts, ...value, tasks: rows, ...(left > 0 && { tasksLeftOut: left }) };
  const places = await outputPlaces({ run: view.run, path: "" }, fileOf);
  const shares =
    (output === undefined ? 0 : 1) + tasks.slice(0, rows.length).filter((task) => task.output !== undefined).length;
  for (let room = size - lengthOf(whole); ; room = Math.floor(room * 0.8)) {
    const share = Math.floor(room / Math.max(1, shares));
    const cut = (text: string, own: number | undefined, at: readonly string[]): { output?: string } => {
      const chars = Math.min(own ?? share, share);
      if (text.length <= chars) return { output: text };
      return chars < MIN_EXCERPT ? {} : { output: boundText(text, at, chars) };
    };
    const made: RunView = {
      ...whole,
      ...(output !== undefined && cut(output, summaryChars, places)),
      tasks: rows.map((row, at): TaskView => {
        const { output: text, summaryChars: own } = tasks[at]!;
        return text === undefined ? row : { ...row, ...cut(text, own, [taskUri(view.run, row.path)]) };
      }),
    };
    if (lengthOf(made) <= size || share < MIN_EXCERPT) return made;
  }
}

/** The first of these rows, as many as fit into so many characters of JSON. */
export function fitting<T>(rows: readonly T[], max: number): T[] {
  let left = max;
  const end = rows.findIndex((row) => (left -= lengthOf(row) + 1) < 0);
  return rows.slice(0, end === -1 ? rows.length : end);
}

export const lengthOf = (value: unknown): number => JSON.stringify(value).length;
