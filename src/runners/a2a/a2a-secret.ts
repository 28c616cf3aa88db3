import { randomBytes } from "node:crypto";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import { startChild, within } from "../../runtime/commands/child.ts";
import { remoteFailure } from "./a2a-fault.ts";

/** Where secrets come from: environment variables and commands that the agent file names. */
export type SecretSource = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  passEnv?: readonly string[];
  cwd: string;
}>;

const TIME_LIMIT_MS = 30_000;
const MARKER = "SUBCREW_SECRET";

/**
 * Resolves a field of `auth`: `$NAME` is a variable, `!command` is the output of a command, anything else is literal.
 * Only files that the user trusts are used, because a command is code.
 */
export async function secretOf(written: string, source: SecretSource, signal: AbortSignal): Promise<string> {
  const variable = /^\$(?:\{(\w+)\}|(\w+))$/.exec(written);
  const name = variable?.[1] ?? variable?.[2];
  if (name !== undefined) return fromEnvironment(name, source);
  if (/^!(?!!)/.test(written)) return fromCommand(written.slice(1).trim(), source, signal);
  return written.replace(/^(?:\$\$|!!)/, (twice) => twice[0]!); // `$$` or `!!` stands for one `$` or `!`
}

/** Describes a field of `auth` to a person: the source of its value, never the value itself. */
export function secretLabel(written: string): string {
  return /^\$(?!\$)|^!(?!!)/.test(written) ? written : "a value in the agent's file";
}

function fromEnvironment(name: string, { env }: SecretSource): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== "") return value;
  throw remoteFailure(
    "REMOTE_AUTH",
    `the variable ${name} is not set`,
    `Set ${name} to the secret of the remote agent.`,
  );
}

/** The output of a command. Only standard output is used, so that warnings do not end up in a header. */
async function fromCommand(
  command: string,
  { env, passEnv = [], cwd }: SecretSource,
  signal: AbortSignal,
): Promise<string> {
  const mark = randomBytes(12).toString("hex");
  const child = startChild({
    file: "/bin/sh",
    args: ["-c", 'eval "$1" 2>/dev/null', "sh", command],
    cwd,
    env: { ...passedEnv(env, passEnv), [MARKER]: mark },
    marker: `${MARKER}=${mark}`,
  });
  const { exit, cut } = await within(child, { timeoutMs: TIME_LIMIT_MS, signal });
  const hint = "Run the command in `auth` of the agent's file by hand and see what it prints.";
  if (cut) throw remoteFailure("REMOTE_AUTH", "the command that prints the agent's secret did not end in time", hint);
  if (exit.code !== 0)
    throw remoteFailure(
      "REMOTE_AUTH",
      `the command that prints the agent's secret ended with ${exit.code ?? exit.signal ?? exit.problem}`,
      hint,
    );
  const value = child.output.text().trim();
  if (value === "" || /[\r\n]/.test(value))
    throw remoteFailure(
      "REMOTE_AUTH",
      "the command that prints the agent's secret printed more or less than one line",
      hint,
    );
  return value;
}
