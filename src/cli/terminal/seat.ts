import type { TextSink } from "../../sinks/text.ts";
import { type AskPerson, askPerson } from "./gates.ts";
import { type Keyboard, keyboard } from "./keyboard.ts";

/** Where a person sits: keys that do not disturb what is shown, and questions that have the terminal to themselves. */
export type Seat = Readonly<{ keys: Keyboard | undefined; person: AskPerson }>;

export function openTerminal(
  { pause, resume }: Pick<TextSink, "pause" | "resume">,
  { attended, interrupt }: Readonly<{ attended: boolean; interrupt(): void }>,
): Seat {
  const keys = attended ? keyboard({ interrupt, pause, resume }) : undefined;
  const person = askPerson({
    interrupt,
    pause: () => {
      keys?.release();
      pause();
    },
    resume: async () => {
      await keys?.hold();
      resume();
    },
  });
  return { keys, person };
}
