import { execFile } from "node:child_process";
import { CrewError, isCode } from "../../core/schema/error.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import type { OwnCommand } from "../../web/routes.ts";

const MOST_BYTES = 64 * 2 ** 20;
const LONGEST_MS = 120_000;

/** Runs a subcrew command without a terminal. Throws the error that the command reports. */
export const ownCommand: OwnCommand = (words) =>
  new Promise((done, failed) => {
    const args = [...process.execArgv, process.argv[1] ?? "", ...words];
    const options = {
      env: { ...process.env, NO_COLOR: "1" },
      maxBuffer: MOST_BYTES,
      timeout: LONGEST_MS,
    };
    const child = execFile(process.execPath, args, options, (error, out, err) => {
      const reported = error ? errorIn(err) : undefined;
      if (reported) return failed(reported);
      // Some commands, such as `agents lint`, print their findings and exit with 1.
      if (error && out.trim() === "")
        return failed(
          new CrewError(
            "BAD_INPUT",
            err.trim().split("\n").at(-1) || "The command failed.",
            `Try the command in a terminal: subcrew ${words.join(" ")}`,
          ),
        );
      done(out);
    });
    child.stdin?.end();
  });

function errorIn(text: string): CrewError | undefined {
  for (const line of text.trim().split("\n").toReversed()) {
    try {
      const said: unknown = parseJson(line);
      if (isRecord(said) && said["type"] === "error" && isCode(said["code"]))
        return new CrewError(said["code"], String(said["message"]), String(said["hint"]));
    } catch {
      // the line is not JSON, so it does not contain the error
    }
  }
  return undefined;
}
