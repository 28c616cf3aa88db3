import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { RunningServer } from "../../runtime/network/loopback-server.ts";
import { openBrowser } from "../../runtime/network/open-browser.ts";
import { openWeb } from "../../web/server.ts";
import { newSecrets, type WebSecrets } from "../../web/sessions.ts";
import type { Flags } from "../base/flags.ts";
import { homes } from "../base/home.ts";
import { crewFor } from "../launch/start.ts";
import { onSignals } from "../terminal/signals.ts";
import { ownCommand } from "./own-command.ts";
import { isServed, signInLink, readWebRecord, writeOpener, writeWebRecord } from "./web-file.ts";

/** Serves the page until a signal arrives. If a server already runs, prints another link to it. */
export async function serveWeb(flags: Flags): Promise<number> {
  const { state } = homes();
  const assets = join(import.meta.dirname, "web");
  if (!existsSync(join(assets, "index.html")))
    throw new CrewError(
      "BAD_FILE",
      "The files of the web page are missing from this installation.",
      "In a clone run `npm run build`; otherwise install subcrew again.",
    );
  const crew = await crewFor(flags);
  const record = await readWebRecord(state);
  if (record && (flags.port === undefined || flags.port === record.port) && (await isServed(record))) {
    say(`The page is already served by process ${record.pid}; here is another link.\n`);
    await announce(record, record.port, flags, crew.cwd);
    return 0;
  }
  const secrets = newSecrets(record);
  const options = {
    secrets,
    assets,
    user: process.getuid?.(),
    crewAt: (cwd: string) => crewFor({ cwd, quiet: true }),
    ownCommand,
    onError: (error: unknown) => say(`warn    ${terminalLine(messageOf(error)).slice(0, 300)}\n`),
  };
  const open = (port: number): Promise<RunningServer> => openWeb(crew, { ...options, port });
  const server =
    flags.port === undefined && record ? await open(record.port).catch(() => open(0)) : await open(flags.port ?? 0);
  const stop = new AbortController();
  const signals = onSignals({ pause: () => stop.abort() });
  try {
    await writeWebRecord(state, { ...secrets, port: server.port, pid: process.pid });
    const opener = await announce(secrets, server.port, flags);
    say("Ctrl-C stops serving the page; runs continue.\n");
    await new Promise<void>((done) => {
      if (stop.signal.aborted) return done();
      stop.signal.addEventListener("abort", () => done(), { once: true });
    });
    if (opener !== undefined) await rm(opener, { force: true });
  } finally {
    signals.stop();
    await server.close();
  }
  return signals.code() ?? 0;
}

const say = (text: string): void => void process.stderr.write(text);

/**
 * Prints the links, and opens the browser when asked to. Returns the temporary file that redirects the browser to the
 * page.
 */
async function announce(secrets: WebSecrets, port: number, flags: Flags, cwd?: string): Promise<string | undefined> {
  process.stdout.write(`${signInLink(secrets, port, "full", cwd)}\n`);
  if (flags.shareReadonly) {
    say("Read-only link for other people:\n");
    process.stdout.write(`${signInLink(secrets, port, "read")}\n`);
  }
  if (!flags.open) return undefined;
  const { state } = homes();
  const file = await writeOpener(state, signInLink(secrets, port, "full", cwd));
  const place = { env: process.env, cwd: process.cwd(), platform: process.platform, files: true };
  if (!(await openBrowser(pathToFileURL(file).href, place)))
    say("No browser can be opened here; open the link yourself.\n");
  return file;
}
