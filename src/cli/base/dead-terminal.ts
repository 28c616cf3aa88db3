import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * Lets the process end after its terminal was closed. On exit Node resets the terminals that it began with; it takes the refusal of
 * one that is gone for a fault of its own and aborts, and a process that handles the signals of faults then never ends.
 */
export function endWithTerminal(): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  if (terminals.length === 0) return;
  process.on("exit", () => {
    for (const fd of terminals)
      try {
        if (!isatty(fd)) closeSync(fd);
      } catch {
        // it is closed already
      }
  });
}
