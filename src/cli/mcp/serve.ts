import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CrewError, messageOf } from "../../core/error.ts";
import type { Crew } from "../../crew.ts";
import { openDelegation } from "../../doors/delegation.ts";
import type { DelegationTools } from "../../mcp/delegated.ts";
import type { Flags } from "../flags.ts";
import { oneLine } from "../../sinks/words.ts";
import { onSignals } from "../signals.ts";
import { crewFor } from "../start.ts";

/** Serves until the client goes or a signal comes. Standard output belongs to the protocol. */
export async function serve(flags: Flags): Promise<number> {
  if (!flags.http && (flags.host ?? flags.port ?? flags.tokenFile) !== undefined)
    throw new CrewError("BAD_INPUT", "--host, --port and --token-file only go with --http.", "Add --http.");
  const crew = await crewFor(flags);
  const rules = {
    allRuns: flags.allRuns ?? false,
    answersCalls: flags.answerCalls ?? false,
    attended: flags.unattended !== true,
    ...(flags.as && { delegation: openDelegation(crew, { as: flags.as, run: { unattended: flags.unattended === true } }) }),
    onError: (error: unknown) => void process.stderr.write(`warn    ${oneLine(messageOf(error)).slice(0, 300)}\n`),
  };
  const stop = new AbortController();
  const signals = onSignals({ cancel: () => stop.abort() });
  try {
    if (flags.http) await overHttp(crew, flags, { ...rules, signal: stop.signal });
    else {
      const { serveStdio } = await import("../../mcp/stdio.ts");
      await serveStdio(crew, { ...rules, input: process.stdin, output: process.stdout, signal: stop.signal });
    }
  } finally {
    signals.stop();
  }
  return signals.code() ?? 0;
}

type Rules = Readonly<{
  allRuns: boolean;
  answersCalls: boolean;
  attended: boolean;
  delegation?: DelegationTools;
  onError(error: unknown): void;
  signal: AbortSignal;
}>;

async function overHttp(crew: Crew, { host, port, tokenFile }: Flags, { signal, ...rules }: Rules): Promise<void> {
  const token = tokenFile === undefined ? newToken() : await tokenIn(resolve(tokenFile));
  const { serveHttp } = await import("../../mcp/http.ts");
  const { url, close } = await serveHttp(crew, {
    ...rules,
    token,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
  });
  const known = tokenFile === undefined ? token : `(in ${tokenFile})`;
  process.stderr.write(`mcp     ${url}\ntoken   ${known}\n`);
  await new Promise<void>((done) => {
    if (signal.aborted) return done();
    signal.addEventListener("abort", () => done(), { once: true });
  });
  await close();
}

const newToken = (): string => randomBytes(32).toString("base64url");
const SHORTEST_TOKEN = 22; // 128 bit

/** The token of a file that only its owner can read; made when it is not there. */
async function tokenIn(file: string): Promise<string> {
  const there = (await readFile(file, "utf8").catch(() => "")).trim();
  if (there.length >= SHORTEST_TOKEN) return there;
  if (there !== "")
    throw new CrewError("BAD_FILE", `The token in ${file} is too short.`, "Remove the file; a new one will be made.");
  const token = newToken();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}
