import { spawn } from "node:child_process";
import { safePath } from "../commands/commands.ts";

export type BrowserPlace = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  platform: NodeJS.Platform;
  /** True: local files of subcrew may be opened, too. */
  files?: boolean;
}>;

/**
 * Opens a web address in the person's browser; false where no browser can be shown. The browser program gets the
 * address as one argument, without a shell; only http and https addresses are accepted.
 */
export async function openBrowser(url: string, place: BrowserPlace): Promise<boolean> {
  const command = browserCommand(url, place);
  if (!command) return false;
  const [file, ...args] = command;
  const { env, cwd } = place;
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...env, PATH: safePath(env["PATH"], [cwd]) },
      stdio: "ignore",
      detached: true, // the browser outlives this process
    });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

/**
 * The command that opens a URL: the command in the variable `BROWSER`, or the system's command. Over SSH there is no
 * command, since the window would open on another machine.
 */
export function browserCommand(
  url: string,
  { env, platform, files = false }: Pick<BrowserPlace, "env" | "platform" | "files">,
): readonly [file: string, ...args: string[]] | undefined {
  const at = URL.canParse(url) ? new URL(url) : undefined;
  if (!at || !["https:", "http:", ...(files ? ["file:"] : [])].includes(at.protocol)) return undefined;
  const [file, ...args] = (env["BROWSER"] ?? "").split(/\s+/).filter((word) => word !== "");
  if (file !== undefined) {
    const filled = args.map((word) => word.replaceAll("%s", () => at.href));
    return args.some((word) => word.includes("%s")) ? [file, ...filled] : [file, ...args, at.href];
  }
  if (env["SSH_CONNECTION"] !== undefined) return undefined;
  if (platform === "darwin") return ["/usr/bin/open", at.href];
  const screen = env["DISPLAY"] ?? env["WAYLAND_DISPLAY"];
  return screen === undefined || screen === "" ? undefined : ["xdg-open", at.href];
}
