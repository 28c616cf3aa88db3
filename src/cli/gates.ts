import { createInterface } from "node:readline/promises";
import type { Answer } from "../core/gate.ts";
import { reveal } from "../core/sanitize.ts";
import type { Run } from "../runtime/run.ts";

/** Who answers; `undefined` means that no answer can be had. */
export type Ask = (question: string, signal: AbortSignal) => Promise<Answer | undefined>;

/** Hands every question of a run to somebody, one after the other; questions from before `since` were dealt with. */
export async function answerGates(run: Run, ask: Ask, since: number): Promise<void> {
  const over = new AbortController();
  run.then(
    () => over.abort(),
    () => over.abort(),
  );
  for await (const event of run) {
    if (event.type !== "gate.opened" || event.at < since) continue;
    const answer = await ask(event.question, over.signal);
    if (answer) run.answer(event.path, answer, event.call);
    else if (!over.signal.aborted) run.cancel("no answer was given");
  }
}

/** The answer of --yes. */
export const yes: Ask = () => Promise.resolve({ approve: true, by: "--yes" });

/** The terminal that a person is asked on, and who else uses it. */
export type AskOptions = Readonly<{ pause(): void; resume(): Promise<void>; interrupt(): void }>;

/** Asks the person in front of the terminal. Neither silence nor what was typed before counts as a yes. */
export function askPerson({ pause, resume, interrupt }: AskOptions): Ask {
  return async (question, signal) => {
    pause();
    process.stderr.write(`\n${visible(question)}\n\n${CHOICES}\n`);
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
    const closed = new AbortController();
    lines.once("close", () => closed.abort());
    lines.on("SIGINT", interrupt);
    try {
      for (;;) {
        const answer = parseAnswer(await lines.question("> ", { signal: AbortSignal.any([signal, closed.signal]) }));
        if (answer) return answer;
        process.stderr.write("That is neither y nor n.\n");
      }
    } catch {
      return undefined; // the run is over, or the person closed the input
    } finally {
      lines.close();
      await resume();
    }
  };
}

const CHOICES = "y: yes   n: no   n and some words: no, and what to change";

/** Everything that is to be approved is seen; what would hide or move something shows as a sign. */
function visible(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part) => (part === "\n" || part === "\t" ? part : reveal(part)))
    .join("");
}

/** `y`, `n`, or `n` with what should be different; anything else is no answer. */
export function parseAnswer(line: string): Answer | undefined {
  const text = line.trim();
  if (/^y(es)?$/i.test(text)) return { approve: true, by: "a person" };
  const [, words] = /^no?(?:[\s,:;.-]+(.*))?$/is.exec(text) ?? [];
  if (words === undefined && !/^no?$/i.test(text)) return undefined;
  return { approve: false, by: "a person", ...(words !== undefined && words !== "" && { text: words }) };
}
