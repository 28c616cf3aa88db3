import { format } from "node:util";
import { sanitize } from "../../core/text/sanitize.ts";

const METHODS = ["log", "info", "warn", "error", "debug", "trace", "dir"] as const;

/**
 * Keeps libraries from printing what peers send them, such as a message of an ACP agent that is not valid: it would reach the
 * terminal as it is, or mix with the output of a protocol. With SUBCREW_DEBUG=1 it is printed on stderr, without terminal
 * sequences. Subcrew itself never prints this way.
 */
export function muteConsole(): void {
  const print = (...parts: readonly unknown[]): void => {
    if (process.env["SUBCREW_DEBUG"] === "1") process.stderr.write(`${sanitize(format(...parts))}\n`);
  };
  Object.assign(console, Object.fromEntries(METHODS.map((name) => [name, print])));
}
