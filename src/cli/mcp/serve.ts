import { CrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import type { Crew } from "../../crew/crew-type.ts";
import { openDelegation } from "../../doors/delegation.ts";
import type { DelegationTools } from "../../mcp/delegated.ts";
import type { GreetedStreams } from "../../mcp/start/greet.ts";
import { terminalLine } from "../../core/view/words.ts";
import { newToken, tokensIn } from "../a2a/token-file.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { onSignals } from "../terminal/signals.ts";

/** How many characters the results of a delegation tool have together, so that they fit into a result over MCP. */
const RESULT_CHARS = 9_500;

/**
 * Serves MCP over standard input and output until the client disconnects or a signal arrives. Standard output is used
 * for the protocol only.
 */
export async function serveMcpCommand(
  flags: Flags,
  { input, output }: Pick<GreetedStreams, "input" | "output"> = { input: process.stdin, output: process.stdout },
): Promise<number> {
  if (!flags.http && (flags.host ?? flags.port ?? flags.tokenFile) !== undefined)
    throw new CrewError("BAD_INPUT", "--host, --port and --token-file require --http.", "Add --http.");
  dropPlaceholders(process.env);
  const crew = await crewFor(flags);
  const rules = {
    allRuns: flags.allRuns ?? false,
    answersCalls: flags.answerCalls ?? false,
    attended: flags.unattended !== true,
    full: flags.full ?? false,
    readOnly: (flags.permissionMode ?? crew.settings.config.permissions?.mode) === "plan",
    ...(flags.as && {
      delegation: openDelegation(crew, {
        resultChars: RESULT_CHARS,
        as: flags.as,
        run: { unattended: flags.unattended === true, parkByDefault: true },
      }),
    }),
    onError: (error: unknown) => void process.stderr.write(`warn    ${terminalLine(messageOf(error)).slice(0, 300)}\n`),
  };
  const stop = new AbortController();
  const signals = onSignals({ pause: () => stop.abort() });
  try {
    if (flags.http) await overHttp(crew, flags, { ...rules, signal: stop.signal });
    else {
      const { serveStdio } = await import("../../mcp/stdio.ts");
      await serveStdio(crew, { ...rules, input, output, signal: stop.signal });
    }
  } finally {
    signals.stop();
  }
  return signals.code() ?? 0;
}

/**
 * Removes variables whose value is a placeholder. A host may pass `$NAME` literally for an unset variable, and
 * providers would refuse such a key.
 */
function dropPlaceholders(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env))
    if (value === `$${name}` || value === `\${${name}}`) delete env[name];
}

type Rules = Readonly<{
  allRuns: boolean;
  answersCalls: boolean;
  attended: boolean;
  full: boolean;
  readOnly: boolean;
  delegation?: DelegationTools;
  onError(error: unknown): void;
  signal: AbortSignal;
}>;

async function overHttp(crew: Crew, { host, port, tokenFile }: Flags, { signal, ...rules }: Rules): Promise<void> {
  const token = tokenFile === undefined ? newToken() : Object.values(await tokensIn(tokenFile))[0]!;
  const { serveHttp } = await import("../../mcp/http.ts");
  const { url, close } = await serveHttp(crew, {
    ...rules,
    token,
    ...defined({ host, port }),
  });
  const known = tokenFile === undefined ? token : `(in ${tokenFile})`;
  process.stderr.write(`mcp     ${url}\ntoken   ${known}\n`);
  await new Promise<void>((done) => {
    if (signal.aborted) return done();
    signal.addEventListener("abort", () => done(), { once: true });
  });
  await close();
}
