import type { WriteStream } from "node:tty";
import { withoutForeignSequences, withoutInvisible } from "../../core/text/sanitize.ts";

/**
 * The one place where text leaves for a terminal, whichever command or screen writes it. Removes invisible characters,
 * which hide text of a model or a file from a person who reads, copies or approves it, and terminal sequences that the
 * program does not use. The program writes its own sequences with a text, such as for the clipboard, as bytes. Pipes
 * and files, which programs read, get the text unchanged.
 */
export function showOnlyVisible(terminal: Pick<WriteStream, "write">): void {
  const write = terminal.write.bind(terminal) as (...given: unknown[]) => boolean;
  terminal.write = (text: unknown, ...rest: unknown[]): boolean =>
    write(typeof text === "string" ? withoutInvisible(withoutForeignSequences(text)) : text, ...rest);
}
