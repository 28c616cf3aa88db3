import { serveA2a } from "../../a2a/server.ts";
import { messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { probeSandbox } from "../../runtime/commands/probe-sandbox.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";
import { onSignals } from "../terminal/signals.ts";
import { newToken, tokensIn } from "./token-file.ts";

/** Serves agents over A2A until a signal arrives. */
export async function serveA2aCommand(flags: Flags): Promise<number> {
  const { host, port, url, tokenFile, publicCards } = flags;
  const crew = await crewFor({ ...flags, ...(await withoutShell(flags)) });
  const tokens = tokenFile === undefined ? { caller: newToken() } : await tokensIn(tokenFile);
  const stop = new AbortController();
  const signals = onSignals({ pause: () => stop.abort() });
  const server = await serveA2a(crew, {
    agents: flags.all ? "*" : (flags.agents ?? []),
    tokens,
    ...defined({ host, port, publicUrl: url }),
    ...(publicCards && { publicCards }),
    env: process.env,
    run: {
      unattended: flags.unattended === true,
      asksCalls: flags.unattended !== true,
      ...defined({ answerTimeoutMs: flags.answerTimeout }),
    },
    onError: (error) => void process.stderr.write(`warn    ${sanitize(messageOf(error))}\n`),
  });
  const cards = server.agents.map(
    (name) => `${url?.replace(/\/+$/, "") ?? server.url}/${encodeURIComponent(name)}/.well-known/agent-card.json`,
  );
  const shown = tokenFile === undefined ? { token: tokens["caller"] } : { tokenFile };
  if (flags.json)
    process.stdout.write(
      `${jsonText({ url: server.url, agents: server.agents, cards, ...shown, takenUp: server.takenUp })}\n`,
    );
  else {
    const known = tokenFile === undefined ? tokens["caller"] : `(in ${tokenFile})`;
    process.stderr.write(
      [`a2a     ${server.url}`, `token   ${known}`, ...cards.map((card) => `card    ${card}`)]
        .map((line) => `${sanitize(line)}\n`)
        .join(""),
    );
    if (server.takenUp > 0)
      process.stderr.write(
        `note    resumed ${server.takenUp} interrupted ${server.takenUp === 1 ? "task" : "tasks"}\n`,
      );
  }
  await new Promise<void>((done) => {
    if (stop.signal.aborted) return done();
    stop.signal.addEventListener("abort", () => done(), { once: true });
  });
  await server.close();
  signals.stop();
  return signals.code() ?? 0;
}

/** Denies the bash tool to remote callers, unless commands can be sandboxed or the owner sets --sandbox. */
async function withoutShell({ sandbox, deny = [] }: Flags): Promise<Pick<Flags, "deny">> {
  if (sandbox !== undefined || (await probeSandbox()).level === "full") return { deny };
  return { deny: [...deny, "bash"] };
}
