import { type Command, CommanderError } from "commander";
import { version } from "../core/text/version.ts";
import { beforeExit } from "../runtime/async/before-exit.ts";
import { armFaults } from "../runtime/disk/fault-points.ts";
import { bare, buildCommand, helped } from "./base/command.ts";
import { endWithTerminal } from "./base/dead-terminal.ts";
import { isClosed, outputProblem } from "./base/file-problem.ts";
import { muteConsole } from "./base/mute-console.ts";
import { report } from "./base/report.ts";
import { terminal } from "./base/terminal.ts";
import { unknownCode, unknownCommand } from "./base/usage.ts";
import { showOnlyVisible } from "./base/visible-output.ts";
import { commands } from "./commands.ts";

/** Runs a command line and returns its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  let code = 0;
  if (first === "help" && /^[A-Z][A-Z_0-9]+$/.test(argv[0] ?? "")) return helpOnCode(argv[0]!);
  const program = await programFor(argv, (done) => {
    code = done;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError && helped.has(error.code))) throw error;
  }
  return code;
}

/** Prints the explanation of an error code. */
async function helpOnCode(word: string): Promise<number> {
  const { errorGuide, explainCode, isKnownCode } = await import("./base/error-guide.ts");
  if (!isKnownCode(word)) throw unknownCode(word, Object.keys(errorGuide));
  process.stdout.write(explainCode(word));
  return 0;
}

/**
 * The program with all commands. Only the command in use is built with its flags and code; the others have a name and
 * a summary.
 */
async function programFor(argv: readonly string[], done: (code: number) => void): Promise<Command> {
  const name = argv[0] ?? "";
  const known = Object.hasOwn(commands, name);
  const visible = Object.entries(commands).flatMap(([each, { hidden }]) => (hidden ? [] : [each]));
  if (!known && name !== "" && !name.startsWith("-")) throw unknownCommand(name, visible);

  const program = bare("subcrew")
    .enablePositionalOptions() // flags after a command belong to that command
    .description("Finds the agents you have and runs them: alone, in parallel, in a chain, in a race or as a team.")
    .usage("COMMAND [flags]")
    .version(version, "-V, --version", "show the version")
    .addHelpText("after", overview)
    .action(() => program.help());
  for (const [command, { summary, group, hidden = false, load }] of Object.entries(commands)) {
    const row = command === name ? buildCommand(command, await load(argv), done) : bare(command);
    program.addCommand(row.summary(summary).helpGroup(group), { hidden });
  }
  return program;
}

const overview = `
Exit codes:
  0 done   1 the task failed   2 a mistake in the command line or the input   3 refused
  4 a limit was reached   5 no valid result   130 cancelled or paused   143 terminated

Examples:
  subcrew run explore "Where are errors turned into exit codes?"
  subcrew parallel explore="Which tests are slow?" explore="Which are skipped?"

\`subcrew COMMAND --help\` shows the flags of a command, with examples.
\`subcrew help CODE\` explains an error code, such as UNKNOWN_AGENT.`;

/**
 * Flushes the output and waits for the hooks of runs, then exits without waiting for open handles. If the output could
 * not be written, the command has failed.
 */
async function leave(code: number): Promise<never> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))),
  );
  await beforeExit.gone();
  if (unwritten === undefined) return process.exit(code);
  const failed = failWith(outputProblem("The output", unwritten));
  await new Promise((resolve) => process.stderr.write("", resolve));
  return process.exit(code === 0 ? failed : code);
}

function failWith(thrown: unknown): number {
  return report(thrown, {
    json: args.includes("--json"),
    look: terminal({ color: !args.includes("--no-color") }).look,
  });
}

const [first, ...others] = process.argv.slice(2);
const args = first === "help" ? [...others, "--help"] : process.argv.slice(2);
// a background run inherits both variables: SUBCREW_FAULT is for the command that started it
armFaults(process.env[first === "background-run" ? "SUBCREW_BACKGROUND_FAULT" : "SUBCREW_FAULT"]);
let unwritten: unknown;
process.stdout.on("error", (error) => {
  if (!isClosed(error, process.stdout)) unwritten ??= error;
});
process.stderr.on("error", () => {}); // a write error on stderr cannot be reported anywhere
endWithTerminal();
for (const stream of [process.stdout, process.stderr]) if (stream.isTTY) showOnlyVisible(stream);
muteConsole();
process.on("uncaughtException", (error) => void leave(failWith(error)));
await leave(await main(args).catch(failWith));
