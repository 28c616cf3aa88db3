import { Screen } from "../../tui/screen.ts";

/** The rows at the bottom of the terminal that standard error is connected to. */
export function stderrScreen(): Screen {
  const { stderr } = process;
  return new Screen(
    Object.assign(Object.create(stderr) as typeof stderr, {
      write: (text: string) => stderr.write(text),
      wrapsCursorRow: process.env["TERM_PROGRAM"] !== "vscode",
    }),
  );
}
