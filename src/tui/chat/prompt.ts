import { openMention } from "../../core/text/mention.ts";
import { type TextEditor, edit, emptyEditor, insert, withText } from "../input/editor.ts";
import type { Key } from "../input/keys.ts";
import { clustersOf } from "../wrap.ts";

/** The state of the input line: the text, earlier messages, and completions. It is plain data. */
export type Prompt = Readonly<{
  editor: TextEditor;
  /** Earlier messages, the newest first, and the index of the shown message. */
  history: readonly string[];
  shown: number | undefined;
  /** The text typed before an earlier message was shown. */
  draft: string;
  /** The text that is searched in earlier messages; `undefined` when no search is open. */
  search: string | undefined;
  /** How many matches of the search are skipped, because Ctrl-R was pressed again. */
  passed: number;
  /** Completions of the typed word, and the chosen completion. */
  completions: Readonly<{ words: readonly string[]; from: number; chosen: number | undefined }> | undefined;
}>;

export const emptyPrompt = (history: readonly string[]): Prompt => ({
  editor: emptyEditor,
  history,
  shown: undefined,
  draft: "",
  search: undefined,
  passed: 0,
  completions: undefined,
});

/** The result of a key press: a new prompt, possibly with an entered text; `undefined` when the key has no function. */
export type PromptStep = Readonly<{ prompt: Prompt; entered?: string }> | undefined;

/** Handles one key press. `complete` returns completions for the word before the cursor. */
export function promptKey(
  prompt: Prompt,
  key: Key,
  complete: (word: string, text: string) => readonly string[],
): PromptStep {
  if (prompt.search !== undefined) return searchKey(prompt, key);
  const held = `${key.ctrl ? "ctrl-" : ""}${key.alt ? "alt-" : ""}${key.name}`;
  switch (held) {
    case "enter":
      return enter(prompt, key);
    case "tab":
      return { prompt: completed(prompt, complete, key.shift ? -1 : 1) };
    case "ctrl-r":
      return { prompt: { ...prompt, search: "", passed: 0, completions: undefined } };
    case "escape":
      return prompt.completions ? { prompt: { ...prompt, completions: undefined } } : undefined;
    default: {
      const editor = edit(prompt.editor, key);
      if (editor) return { prompt: { ...prompt, editor, completions: undefined } };
      if (held === "up" || held === "ctrl-p") return { prompt: recalled(prompt, 1) };
      if (held === "down" || held === "ctrl-n") return { prompt: recalled(prompt, -1) };
      return undefined;
    }
  }
}

/** The same prompt with another text. */
export const promptWith = (prompt: Prompt, text: string): Prompt => ({
  ...prompt,
  editor: withText(prompt.editor, text),
  shown: undefined,
  search: undefined,
  completions: undefined,
});

/** The message that the search found. */
export function foundBySearch({ history, search, passed }: Prompt): string | undefined {
  if (search === undefined || search === "") return undefined;
  const wanted = search.toLowerCase();
  const fitting = history.filter((text) => text.toLowerCase().includes(wanted));
  return fitting[Math.min(passed, fitting.length - 1)];
}

function enter(prompt: Prompt, key: Key): PromptStep {
  const { editor, history } = prompt;
  if (key.shift) return { prompt: { ...prompt, editor: insert(editor, "\n") } };
  if (editor.text.endsWith("\\") && editor.cursor === editor.text.length)
    return { prompt: { ...prompt, editor: withText(editor, `${editor.text.slice(0, -1)}\n`) } };
  const text = editor.text;
  const kept = text.trim() === "" ? history : [text, ...history.filter((each) => each !== text)];
  return {
    prompt: { ...emptyPrompt(kept.slice(0, MOST_KEPT)), editor: { ...emptyEditor, cut: editor.cut } },
    entered: text,
  };
}

const MOST_KEPT = 500;

function recalled(prompt: Prompt, by: 1 | -1): Prompt {
  const { history, shown, editor } = prompt;
  const next = (shown ?? -1) + by;
  if (next >= history.length || next < -1) return prompt;
  const draft = shown === undefined ? editor.text : prompt.draft;
  if (next === -1) return { ...promptWith(prompt, draft), draft: "" };
  return { ...promptWith(prompt, history[next]!), shown: next, draft };
}

function searchKey(prompt: Prompt, key: Key): PromptStep {
  const search = prompt.search ?? "";
  const found = foundBySearch(prompt);
  if (key.name === "paste" || (key.text !== undefined && !key.ctrl && !key.alt))
    return { prompt: { ...prompt, search: search + (key.text ?? ""), passed: 0 } };
  if (key.name === "backspace" || (key.ctrl && key.name === "h"))
    return { prompt: { ...prompt, search: clustersOf(search).slice(0, -1).join(""), passed: 0 } };
  if (key.ctrl && key.name === "r") {
    const older = { ...prompt, passed: prompt.passed + 1 };
    return { prompt: foundBySearch(older) === found ? prompt : older };
  }
  if (key.ctrl && key.name === "s") return { prompt: { ...prompt, passed: Math.max(0, prompt.passed - 1) } };
  if (key.name === "escape" || (key.ctrl && (key.name === "g" || key.name === "c")))
    return { prompt: { ...prompt, search: undefined } };
  return { prompt: found === undefined ? { ...prompt, search: undefined } : promptWith(prompt, found) };
}

/** Completes the word before the cursor; pressed again, goes through the completions. */
function completed(prompt: Prompt, complete: (word: string, text: string) => readonly string[], by: 1 | -1): Prompt {
  const { editor, completions } = prompt;
  if (completions) {
    const { words, from } = completions;
    const chosen =
      completions.chosen === undefined
        ? by > 0
          ? 0
          : words.length - 1
        : (completions.chosen + by + words.length) % words.length;
    return { ...prompt, editor: replaced(editor, from, words[chosen]!), completions: { words, from, chosen } };
  }
  const before = editor.text.slice(0, editor.cursor);
  const quoted = openMention(before);
  const from = quoted >= 0 ? quoted : Math.max(before.lastIndexOf(" "), before.lastIndexOf("\n")) + 1;
  const words = complete(before.slice(from), before);
  if (words.length === 0) return prompt;
  if (words.length === 1) return { ...prompt, editor: replaced(editor, from, withBlank(words[0]!)) };
  const common = commonStart(words);
  const grown = common.length > editor.cursor - from ? replaced(editor, from, common) : editor;
  return { ...prompt, editor: grown, completions: { words, from, chosen: undefined } };
}

/** Adds a space after a completion. A folder gets no space, because the name of a file in it follows. */
const withBlank = (word: string): string => (word.endsWith("/") ? word : `${word} `);

function replaced(editor: TextEditor, from: number, word: string): TextEditor {
  return {
    ...editor,
    text: editor.text.slice(0, from) + word + editor.text.slice(editor.cursor),
    cursor: from + word.length,
  };
}

function commonStart([first = "", ...rest]: readonly string[]): string {
  let length = first.length;
  for (const word of rest) while (!word.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
