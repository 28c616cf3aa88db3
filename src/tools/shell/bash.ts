import { asideText } from "../../runtime/files/quarantine.ts";
import { z } from "zod";
import { onlyReads } from "../../core/shell/only-reads.ts";
import type { ShellCommandResult, ShellCommands } from "../../core/task/shell-commands.ts";
import { defineTool, type ToolContext, type ToolResult } from "../../core/task/tool.ts";
import { formatDuration } from "../../core/text/duration.ts";

const DEFAULT_MS = 120_000;
const MOST_MS = 600_000;

const input = z.strictObject({
  command: z.string().min(1).max(100_000).describe("every call starts in the working folder"),
  timeoutMs: z.int().min(100).max(MOST_MS).optional().describe(`default ${DEFAULT_MS}`),
  background: z.boolean().optional().describe("return at once; see bash_output and kill_shell"),
});

/** Runs a command, inside the sandbox of the run when there is one. */
export const bash = defineTool({
  name: "bash",
  description:
    "Runs a bash command and shows what it prints. Processes that it leaves running are killed; use background for those. " +
    "Use the file tools to read, search and change files.",
  input,
  aliases: {
    command: (given) => ({ command: Array.isArray(given) ? commandLine(given.map(String)) : given }),
    cmd: "command",
    timeout: (given) => ({ timeoutMs: typeof given === "number" && given < 1_000 ? given * 1_000 : given }),
    run_in_background: "background",
    is_background: "background",
  },
  effect: "write",
  does: "exec",
  order: ({ command, background = false }) => (!background && onlyReads(command) && !waits(command) ? "read" : "write"),
  subjects: ({ command }) => [{ kind: "command", command }],
  timeoutMs: MOST_MS + 10_000, // longer than the timeout of the command itself, which ends the command cleanly
  async run({ command, timeoutMs = DEFAULT_MS, background = false }, context) {
    if (command.includes("\0")) throw new Error("the command contains a NUL character, which no command can have");
    const commands = await commandsOf(context);
    const network = context.access?.network ? { network: true } : {};
    if (background) {
      const { id } = await commands.start(command, network);
      return `Started in the background as ${id}. Read its output with bash_output, stop it with kill_shell.`;
    }
    const result = await commands.run(command, {
      timeoutMs,
      signal: context.signal,
      report: context.report,
      ...network,
    });
    return told(result, timeoutMs, commands.state);
  },
});

/** A command that is given as a list of words, as one line; `["bash", "-lc", "ls"]` is the line `ls`. */
function commandLine(words: readonly string[]): string {
  const [shell = "", option = "", line] = words;
  if (/(?:^|\/)(?:ba|z)?sh$/.test(shell) && /^-l?c$/.test(option) && words.length === 3) return line!;
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** True for a command that changes no file but waits, so that the calls behind it find another state. */
const waits = (command: string): boolean => /\bsleep\b/.test(command);

/** The commands of a task; if the task cannot run any, the model gets an error. */
export async function commandsOf({ access }: ToolContext): Promise<ShellCommands> {
  if (!access?.commands) throw new Error("commands cannot be run here");
  return access.commands();
}

/** Formats the output and the exit of a command. */
export function told(
  result: ShellCommandResult,
  timeoutMs: number,
  { sandboxed }: Readonly<{ sandboxed: boolean }> = { sandboxed: false },
): Exclude<ToolResult, string> {
  const { ended, code, text } = result;
  if (ended === "not-started")
    throw Object.assign(new Error(`the command could not be started: ${text}`), { code: "NOT_STARTED" });
  const forbidden = sandboxed && code !== 0 && text.includes("Read-only file system");
  const notes = [
    endOf(result, timeoutMs),
    ...(result.missedNetwork ? [NO_NETWORK] : forbidden ? [NOT_WRITABLE] : []),
    ...asideOf(result),
  ].filter((note) => note !== "");
  const body =
    result.cutBytes === 0
      ? text
      : `[${result.cutBytes} bytes at the beginning are not shown${result.file === undefined ? "" : `; the full output is in ${result.file}`}]\n${text}`;
  const whole = [body.trimEnd(), ...notes.map((note) => `[${note}]`)].filter((part) => part !== "").join("\n");
  const status =
    ended === "timeout" || ended === "cancelled" ? ended : ended === "exited" && code === 0 ? "ok" : "failed";
  const file = result.cutBytes > 0 && result.file !== undefined ? { file: result.file } : {};
  return { text: whole === "" ? "[no output]" : whole, error: status !== "ok", status, ...file };
}

const NOT_WRITABLE = "the sandbox lets commands write only in the working folder and /tmp";
const NO_NETWORK =
  "the sandbox has no network, which is probably why this command failed; repeat the call only if the command needs the network: the user is then asked to allow it";

function endOf({ ended, code, signal }: ShellCommandResult, timeoutMs: number): string {
  if (ended === "timeout")
    return `the command was stopped after ${formatDuration(timeoutMs)}: give a larger timeoutMs, or run it in the background`;
  if (ended === "cancelled") return "the command was stopped before it finished";
  if (ended === "killed") return `the command was killed by ${signal ?? "a signal"}`;
  return code === 0 ? "" : `exit code ${code}`;
}

function asideOf({ setAside = [] }: ShellCommandResult): string[] {
  const rest = setAside.length - MOST_ASIDE;
  return [
    ...setAside.slice(0, MOST_ASIDE).map(asideText),
    ...(rest > 0 ? [`${rest} more files were renamed for the same reason`] : []),
  ];
}

const MOST_ASIDE = 20;
