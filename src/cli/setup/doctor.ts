import { jsonText } from "../../core/text/json-text.ts";
import { wrapLine } from "../../core/text/wrap-line.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption } from "../base/flags.ts";

/** The column where the texts begin, after the sign and the name of the check. */
const INDENT = 15;

/** The command `subcrew doctor`. */
export const doctor: CliCommand = {
  description:
    "Checks whether subcrew can work here: Node, settings, agents, keys and models, sandbox, state folder, git, MCP servers and hosts. Exits with 1 when something is broken.",
  options: [jsonOption()],
  examples: [
    ["subcrew doctor", "check everything, with a fix for each problem"],
    ["subcrew doctor --json", "print the checks as JSON, for a program"],
  ],
  notes: "Providers with a key, and local model servers, are asked for their list of models. No prompt is sent.",
  act: async (_, flags) => {
    const [{ examine }, { stdoutLook }] = await Promise.all([import("./examine.ts"), import("../base/terminal.ts")]);
    const findings = await examine(new AbortController().signal);
    const broken = findings.filter(({ state }) => state === "broken").length;
    if (flags.json) process.stdout.write(`${jsonText({ ok: broken === 0, findings }, 2)}\n`);
    else {
      const { colors, signs } = stdoutLook(flags);
      const sign = { ok: colors.green(signs.ok), note: colors.yellow(signs.none), broken: colors.red(signs.failed) };
      const columns = process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
      const rows = (text: string): string[] =>
        wrapLine(`${" ".repeat(INDENT)}${terminalLine(text)}`, columns).map((row) => row.slice(INDENT));
      for (const { state, about, text, fix } of findings) {
        const [first, ...more] = rows(text);
        const below = [...more, ...(fix === undefined ? [] : rows(`Fix: ${fix}`).map((row) => colors.dim(row)))];
        process.stdout.write(
          [
            `${sign[state]} ${about.padEnd(INDENT - 3)} ${first}`,
            ...below.map((row) => `${" ".repeat(INDENT)}${row}`),
            "",
          ].join("\n"),
        );
      }
      const notes = findings.filter(({ state }) => state === "note").length;
      process.stdout.write(
        broken === 0
          ? `\nNothing is broken${notes > 0 ? `, ${notes} ${notes === 1 ? "note" : "notes"}` : ""}.\n`
          : `\n${broken} broken.\n`,
      );
    }
    return broken === 0 ? 0 : 1;
  },
};
