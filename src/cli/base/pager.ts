import { spawn } from "node:child_process";
import { once } from "node:events";
import { withoutInvisible } from "../../core/text/sanitize.ts";

/** Prints a text. A text that does not fit on the terminal is shown with `$PAGER`. A missing pager is not an error. */
export async function printPaged(text: string, { pager }: Readonly<{ pager: boolean }>): Promise<void> {
  const { stdout } = process;
  const fits = text.split("\n").length < (stdout.rows || 24);
  if (!pager || !stdout.isTTY || fits || process.env["PAGER"] === "") return void stdout.write(text);
  const child = spawn("/bin/sh", ["-c", process.env["PAGER"] ?? "less -R -F -X"], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...process.env, LESS: process.env["LESS"] ?? "-R -F -X" },
  });
  const ignore = (): void => {};
  process.on("SIGINT", ignore); // the pager handles Ctrl-C
  child.stdin.on("error", ignore); // the pager was closed before it read everything
  child.stdin.end(withoutInvisible(text)); // the text goes to the pager, which writes it to the terminal
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGINT", ignore);
  if (code === 127) stdout.write(text);
}
