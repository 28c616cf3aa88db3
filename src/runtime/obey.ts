import type { Command, Receipt } from "../core/command.ts";
import type { Run } from "./run.ts";

/** Carries out what was said to a run from outside. */
export async function obey(run: Run, command: Command): Promise<Receipt> {
  switch (command.do) {
    case "answer": {
      const taken = run.answer(command.path, command.answer);
      return { done: taken, text: taken ? "The answer was taken." : `"${command.path}" does not wait for an answer; perhaps somebody was faster.` };
    }
    case "send": {
      const taken = await run.send(command.path, command.text, command.from);
      return { done: taken, text: taken ? `"${command.path}" reads it before its next turn.` : `"${command.path}" is not running.` };
    }
    case "cancel":
      run.cancel(command.reason);
      return { done: true, text: "The run is being stopped." };
  }
}
