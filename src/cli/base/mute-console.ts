import { format } from "node:util";
import { sanitize } from "../../core/text/sanitize.ts";

const METHODS = ["log", "info", "warn", "error", "debug", "trace", "dir"] as const;

/**
 * Keeps libraries from printing data of remote programs with `console`, such as an invalid message of an ACP agent: it
 * would reach the terminal unfiltered, or mix with the output of a protocol. With SUBCREW_DEBUG=1 it is printed on
 * stderr, without terminal sequences. Subcrew itself does not print with `console`.
 */
export function muteConsole(): void {
  const print = (...parts: readonly unknown[]): void => {
    if (process.env["SUBCREW_DEBUG"] === "1") process.stderr.write(`${sanitize(format(...parts))}\n`);
  };
  Object.assign(console, Object.fromEntries(METHODS.map((name) => [name, print])));
}
