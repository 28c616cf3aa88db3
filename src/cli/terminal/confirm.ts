import type { Flags } from "../base/flags.ts";
import { terminal } from "../base/terminal.ts";
import { askPerson } from "./gates.ts";

/** True when --yes is given or the person confirms at the terminal. Without a terminal it is false. */
export async function confirm(question: string, flags: Flags): Promise<boolean> {
  if (flags.yes) return true;
  if (!terminal(flags).attended) {
    process.stderr.write(
      `${question}\nNothing was changed: the confirmation needs a terminal. Add --yes to confirm without one.\n`,
    );
    return false;
  }
  if (await askYes(question)) return true;
  process.stderr.write("Nothing was changed.\n");
  return false;
}

/** Asks a yes-or-no question at the terminal. */
export async function askYes(question: string): Promise<boolean> {
  const ask = askPerson({ pause: () => {}, resume: () => {}, interrupt: () => process.exit(130), plain: true });
  return (await ask({ question }, new AbortController().signal))?.approve === true;
}
