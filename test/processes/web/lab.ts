import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { needs } from "../../needs.ts";
import { type Place, place, type Started } from "../command.ts";

/** A page of `subcrew web` in a real browser, and all errors that occurred in it. */
export type Tab = Readonly<{ page: Page; context: BrowserContext; faults: readonly string[] }>;

export type TabOptions = Readonly<{
  width?: number;
  height?: number;
  dark?: boolean;
  hash?: string;
  /** The clock of the page can be moved, as when a machine slept. */
  clock?: boolean;
  /** The flags and the folder of the command that prints the link. */
  flags?: readonly string[];
  at?: string;
}>;

export type Served = Readonly<{
  place: Place;
  /** A new link with all permissions, as `subcrew web` prints it. */
  link(...flags: readonly string[]): Promise<string>;
  /** Kills the server without a warning. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process of the server, or continues it. */
  freeze(stopped: boolean): void;
  tab(options?: TabOptions): Promise<Tab>;
  close(): Promise<void>;
}>;

/** One browser for a test file; `missing` says why there is none. */
export async function openChromium(): Promise<Browser | Readonly<{ missing: string }>> {
  const found = await needs("chromium");
  if (found.missing !== undefined) return { missing: found.missing };
  const args = ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath: found.path, args });
}

/** Serves the runs of a new place. */
export async function serve(
  browser: Browser | undefined,
  files: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Served> {
  const there = place(files);
  let server: Started | undefined;
  const tabs: BrowserContext[] = [];
  const start = async (): Promise<void> => {
    server = there.start(["web", ...flags]);
    await server.until("Ctrl-C stops serving the page");
  };
  const linkAt = async (cwd: string, more: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await there.run(["web", ...more], { shared: false, cwd });
    const found = stdout.trim().split("\n").at(-1) ?? "";
    if (!found.startsWith("http://127.0.0.1:")) throw new Error(`no link: ${stdout}${stderr}`);
    return found;
  };
  await start();
  return {
    place: there,
    start,
    link: (...more) => linkAt(there.workspace, more),
    freeze: (stopped) => void server?.child.kill(stopped ? "SIGSTOP" : "SIGCONT"),
    kill: async () => {
      server?.child.kill("SIGKILL");
      await server?.ended;
    },
    tab: async ({
      width = 1280,
      height = 800,
      dark = false,
      hash = "",
      clock = false,
      flags: more = [],
      at = there.workspace,
    } = {}) => {
      const context = await browser!.newContext({
        viewport: { width, height },
        colorScheme: dark ? "dark" : "light",
        reducedMotion: "reduce",
        permissions: ["clipboard-read", "clipboard-write"],
      });
      tabs.push(context);
      context.setDefaultTimeout(Number(process.env["WEB_TIMEOUT"] ?? 90_000));
      const page = await context.newPage();
      if (clock) await page.clock.install();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => {
        if (
          message.type() === "error" &&
          !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text())
        )
          faults.push(message.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith("http://127.0.0.1:")) faults.push(`asked ${request.url()}`);
      });
      await page.goto(await linkAt(at, more));
      await page.waitForSelector("header.bar");
      if (hash !== "") await page.evaluate((to) => void (location.hash = to), hash);
      return { page, context, faults };
    },
    close: async () => {
      for (const context of tabs) await context.close();
      const runs = await there.run(["ps", "--json"]);
      for (const { id } of JSON.parse(runs.stdout || "[]") as { id: string }[])
        await there.run(["kill", id], { shared: false });
      server?.child.kill("SIGINT");
      await server?.ended;
    },
  };
}
