import { execFile } from "node:child_process";
import { terminalLine } from "../../core/view/words.ts";
import { actOnRun } from "../../crew/act-on-run.ts";
import type { Crew } from "../../crew/crew-type.ts";
import type { Act } from "../../tui/top/view.ts";

/** The output and the abort signal for an action that the person chose. */
export type ActOptions = Readonly<{ write(text: string | Uint8Array): void; signal: AbortSignal }>;

/** Carries out an action and returns a message about its result. */
export async function carryOut(
  crew: Crew,
  act: Exclude<Act, { do: "quit" | "open" }>,
  { write, signal }: ActOptions,
): Promise<string> {
  switch (act.do) {
    case "answer": {
      // The answer names its question, so that it cannot answer a later question by mistake.
      const { run, path, question, call } = act.question;
      const { always, ...rest } = act.answer;
      const answer = { ...rest, by: "a person", ...(always && { always, scope: "run" as const }) };
      return terminalLine((await crew.open(run, { signal }).answer(path, answer, { question, call })).text);
    }
    case "message": {
      const { run, path } = act.row;
      return terminalLine((await crew.open(run.id, { signal }).send(path, act.text)).text);
    }
    case "command":
      return terminalLine((await actOnRun(crew, act.words))?.text ?? (await ownCommand(act.words, signal)));
    case "copy":
      write(Buffer.from(`\u001b]52;c;${Buffer.from(act.text).toString("base64")}\u0007`));
      return `copied: ${act.text}`;
  }
}

/** Runs a subcrew command in another process; its last printed line is the result. */
function ownCommand(words: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((done) => {
    const args = [...process.execArgv, process.argv[1] ?? "", ...words];
    const child = execFile(
      process.execPath,
      args,
      { signal, env: { ...process.env, NO_COLOR: "1" } },
      (_, out, err) => {
        done(terminalLine(`${out} ${err}`) || `subcrew ${words.join(" ")}: done`);
      },
    );
    child.stdin?.end();
  });
}

/** The terminal sequence that tells the person that a question is open: a bell, or a notification. */
export function notification(how: "bell" | "osc9", count: number): Uint8Array {
  return Buffer.from(how === "bell" ? "\u0007" : `\u001b]9;subcrew: ${count} need${count === 1 ? "s" : ""} you\u0007`);
}
