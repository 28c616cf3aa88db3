import type { Flags } from "../base/flags.ts";
import { terminal } from "../base/terminal.ts";
import { askPerson } from "../terminal/gates.ts";

/** Confirmation by --yes or at the terminal; without a terminal it is a no. */
export async function confirm(question: string, flags: Flags): Promise<boolean> {
  if (flags.yes) return true;
  if (!terminal(flags).attended) {
    process.stderr.write("There is no terminal to ask on, so nothing was changed. Add --yes to agree.\n");
    return false;
  }
  const ask = askPerson({ pause: () => {}, resume: async () => {}, interrupt: () => process.exit(130) });
  const answer = await ask(question, new AbortController().signal);
  if (answer?.approve) return true;
  process.stderr.write("Nothing was changed.\n");
  return false;
}
