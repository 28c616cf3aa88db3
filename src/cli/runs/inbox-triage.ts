import { createInterface } from "node:readline/promises";
import { type AnswerKind, answerKind } from "../../core/plan/answer-kind.ts";
import type { Answer } from "../../core/plan/gate.ts";
import type { Question } from "../../core/run/run-status.ts";
import { fit } from "../../core/view/fit.ts";
import type { Look } from "../../core/view/look.ts";
import { shortQuestion } from "../../core/view/row-cells.ts";
import { terminalLine, took } from "../../core/view/words.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { parseAnswer } from "../terminal/gates.ts";
import { askedCall } from "../terminal/asked-call.ts";
import { questionLines } from "../terminal/questions.ts";

/** A question in the inbox, with the status and the name of its run. */
export type InboxQuestion = Question & Readonly<{ life: string; name?: string; answered: boolean }>;

/** One line per question: its run and agent, its age, and its first words. */
export function inboxLine(asked: InboxQuestion, now: number, columns: number, look: Look): string {
  const { run, path, question, askedAt, name, agent, life, answered } = asked;
  const who = terminalLine([name ?? run, agent ?? path].join("/"));
  const about = [
    answerKind(asked),
    `${took(now - askedAt, look, "spaced")} ago`,
    ...(life === "interrupted" ? ["interrupted"] : []),
    ...(answered ? ["answered; applied when the run is resumed"] : []),
  ].join(", ");
  return fit(`${who}  (${about})  ${terminalLine(shortQuestion(question))}`, columns, look.signs.more);
}

/** The keys that answer each kind of question. */
const CHOICES: Readonly<Record<AnswerKind, string>> = {
  words: "type the answer   [s] later   [q] stop",
  approval: "[y] approve   [n] reject, with words: n WORDS   [s] later   [q] stop",
  permission:
    "[y] allow once   [a] allow this exact call in this run   [n] deny, with words: n WORDS   [s] later   [q] stop",
};

export type TriageOptions = Readonly<{
  look: Look;
  /** Submits the answer to the run; returns a message about the result. */
  give(asked: InboxQuestion, answer: Answer): Promise<string>;
}>;

/** Asks the questions one by one, each with its full text or diff. */
export async function triage(crew: Crew, all: readonly InboxQuestion[], options: TriageOptions): Promise<void> {
  const { look, give } = options;
  const print = (text: string): void => void process.stderr.write(`${text}\n`);
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  const over = new AbortController();
  lines.once("close", () => over.abort());
  lines.on("SIGINT", () => lines.close());
  try {
    for (const [index, asked] of all.entries()) {
      const open = (await crew.kept.questions()).some(
        ({ run, path, call, askedAt }) =>
          run === asked.run && path === asked.path && call === asked.call && askedAt === asked.askedAt,
      );
      const title = `${index + 1} of ${all.length}: ${terminalLine(`${asked.run}/${asked.path}`)}`;
      print(`\n${look.colors.bold(title)}${open ? "" : "  was answered meanwhile"}`);
      if (!open || asked.answered) continue;
      const about = await askedCall(crew, asked);
      print(questionLines({ text: asked.question, about, kind: answerKind(asked) }, look).join("\n"));
      const answer = await answerTo(asked, {
        ask: () => lines.question("> ", { signal: over.signal }),
        tell: (text) => print(look.colors.dim(text)),
      });
      if (answer === "stop") return;
      if (answer !== "later") print(terminalLine(await give(asked, answer)));
    }
  } finally {
    lines.close();
  }
}

async function answerTo(
  asked: InboxQuestion,
  { ask, tell }: Readonly<{ ask(): Promise<string>; tell(text: string): void }>,
): Promise<Answer | "later" | "stop"> {
  const kind = answerKind(asked);
  const network = asked.offersNetwork ?? false;
  const choices = `${network ? "[w] allow once with network   " : ""}${CHOICES[kind]}`;
  tell(choices);
  for (;;) {
    const line = await ask().catch(() => undefined);
    if (line === undefined || /^q$/i.test(line.trim())) return "stop";
    if (/^s$/i.test(line.trim())) return "later";
    if (kind === "words" && line.trim() !== "") return { approve: true, text: line.trim(), by: "the inbox" };
    const answer = kind === "words" ? undefined : parseAnswer(line, { always: kind === "permission", network });
    if (answer) return { ...answer, by: "the inbox" };
    tell(choices);
  }
}
