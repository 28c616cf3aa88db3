import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/**
 * Lets the process exit normally after its terminal was closed. On exit, Node resets the terminals that it started
 * with. When a closed terminal refuses, Node aborts, and a process that handles the signal of the abort never ends. So
 * this function closes the descriptors of closed terminals first.
 */
export function endWithTerminal(): void {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  if (terminals.length === 0) return;
  process.on("exit", () => {
    for (const fd of terminals)
      try {
        if (!isatty(fd)) closeSync(fd);
      } catch {
        // the terminal's descriptor is already closed
      }
  });
}
