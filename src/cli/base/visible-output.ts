import type { WriteStream } from "node:tty";
import { withoutInvisible } from "../../core/text/sanitize.ts";

/**
 * Removes invisible characters from every text that is written to a terminal, whichever command or screen writes it:
 * they hide text of a model or a file from a person who reads, copies or approves it. Pipes and files, which programs
 * read, get the text unchanged.
 */
export function showOnlyVisible(terminal: Pick<WriteStream, "write">): void {
  const write = terminal.write.bind(terminal) as (...given: unknown[]) => boolean;
  terminal.write = (text: unknown, ...rest: unknown[]): boolean =>
    write(typeof text === "string" ? withoutInvisible(text) : text, ...rest);
}
