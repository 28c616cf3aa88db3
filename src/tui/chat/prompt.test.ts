import { expect, test } from "vitest";
import { createKeyDecoder } from "../input/keys.ts";
import { emptyPrompt, foundBySearch, type Prompt, promptKey } from "./prompt.ts";

const words = ["/help", "/model", "/context", "/cost", "@src/", "@src/login.ts"];
const complete = (word: string): string[] => (word === "" ? [] : words.filter((each) => each.startsWith(word)));

/** Types what a terminal sends; returns the prompt and all entered texts. */
function typing(sent: string, history: readonly string[] = []): { prompt: Prompt; entered: string[] } {
  const decoder = createKeyDecoder();
  const entered: string[] = [];
  let prompt = emptyPrompt(history);
  for (const key of [...decoder.push(sent), ...decoder.flush()]) {
    const step = promptKey(prompt, key, complete);
    prompt = step?.prompt ?? prompt;
    if (step?.entered !== undefined) entered.push(step.entered);
  }
  return { prompt, entered };
}

test("chat prompt: a paste of many lines is one text, and Enter sends all of it", () => {
  const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`).join("\n");
  expect(typing(`\u001b[200~${lines}\u001b[201~\r`).entered).toEqual([lines]);
});

test("chat prompt: a backslash at the end, Alt-Enter and Ctrl-J make a new line", () => {
  expect(typing("one\\\rtwo\u001b\rthree\nfour\r").entered).toEqual(["one\ntwo\nthree\nfour"]);
});

test("chat prompt: the arrow keys go through earlier messages and back to the typed text", () => {
  const up = "\u001b[A";
  const down = "\u001b[B";
  expect(typing(`dra${up}${up}`, ["newest", "older"]).prompt.editor.text).toBe("older");
  expect(typing(`dra${up}${up}${down}${down}`, ["newest", "older"]).prompt.editor.text).toBe("dra");
});

test("chat prompt: Ctrl-R searches earlier messages, a second Ctrl-R finds the next older message, and Enter accepts it", () => {
  const history = ["fix the login", "list files", "login tests"];
  expect(foundBySearch(typing("\u0012LOGIN", history).prompt)).toBe("fix the login");
  expect(typing("\u0012login\u0012\r", history).prompt.editor.text).toBe("login tests");
  expect(typing("\u0012login\u0012\r\r", history).entered).toEqual(["login tests"]);
});

test("chat prompt: Tab completes a word, lists several matches, and goes through them", () => {
  expect(typing("/h\t").prompt.editor.text).toBe("/help ");
  expect(typing("/co\t").prompt.completions?.words).toEqual(["/context", "/cost"]);
  expect(typing("/co\t\t\t").prompt.editor.text).toBe("/cost");
  expect(typing("look at @src/l\t").prompt.editor.text).toBe("look at @src/login.ts ");
});

test("chat prompt: a search through earlier messages leaves their order as it was", () => {
  const history = ["fix the test", "other", "run the test", "old"];
  const { prompt } = typing("\u0012test\u0012\u0012\r", history);
  expect(prompt.editor.text).toBe("run the test");
  expect(prompt.history).toEqual(history);
});
