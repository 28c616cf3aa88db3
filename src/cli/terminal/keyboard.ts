import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Interface } from "node:readline/promises";
import { promisify } from "node:util";

/** The keyboard while a run is shown: typed text is not echoed and does not answer a later question. */
export type Keyboard = Readonly<{
  /** Reads the keys, unless this process is in the background of the terminal. */
  hold(): Promise<void>;
  release(): void;
}>;

/** What Ctrl-C and Ctrl-Z mean while the keyboard is held. */
export type Keys = Readonly<{ interrupt(): void; pause(): void; resume(): void }>;

/** The keyboard of a terminal that somebody sits in front of. */
export function keyboard({ interrupt, pause, resume }: Keys): Keyboard {
  const { stdin } = process;
  let [wanted, held, suspended] = [false, false, false];
  const press = (chunk: Buffer | string): void => {
    for (const byte of Buffer.from(chunk)) {
      if (byte === CTRL_C) interrupt();
      if (byte === CTRL_Z) suspend();
      if (byte === CTRL_BACKSLASH) process.kill(0, "SIGQUIT");
    }
  };
  const drop = (): void => {
    if (!held) return;
    held = false;
    stdin.off("data", press).pause();
    stdin.setRawMode(false);
  };
  const take = async (): Promise<void> => {
    if (held || !(await inForeground()) || held || !wanted) return;
    held = true;
    stdin.setRawMode(true);
    stdin.on("data", press).resume();
  };
  const suspend = (): void => {
    drop();
    pause();
    suspended = true;
    // As the terminal would do it: to the whole job, of which a shell or npx may be a part.
    process.kill(0, "SIGTSTP");
    // The system does not suspend a job that no shell could continue, so no SIGCONT would follow.
    setTimeout(goOn, NOT_SUSPENDED_MS).unref();
  };
  const goOn = (): void => {
    if (suspended) resume();
    suspended = false;
    void take();
  };
  const quit = (): void => {
    release();
    pause();
    process.kill(process.pid, "SIGQUIT"); // there is no listener any more, so this ends the process like a kill
  };
  const release = (): void => {
    wanted = false;
    process.off("SIGCONT", goOn).off("SIGQUIT", quit);
    drop();
  };
  const hold = async (): Promise<void> => {
    if (!wanted) process.on("SIGCONT", goOn).on("SIGQUIT", quit);
    wanted = true;
    await take();
  };
  return { hold, release };
}

/** Ctrl-\ at a prompt ends the process like a kill, as it does everywhere else. */
export function quitOnKey(lines: Interface): void {
  const press = (_: unknown, key: { sequence?: string } | undefined): void => {
    if (key?.sequence !== "\u001c") return;
    lines.close();
    process.kill(0, "SIGQUIT");
  };
  process.stdin.on("keypress", press);
  lines.once("close", () => void process.stdin.off("keypress", press));
}

const CTRL_C = 3;
const CTRL_Z = 26;
const CTRL_BACKSLASH = 28;
/** Time enough for the signal to stop this process. */
const NOT_SUSPENDED_MS = 200;

/** Whether this job is in the foreground: the system stops a background job that uses the terminal. */
async function inForeground(): Promise<boolean> {
  if (process.platform === "win32") return true;
  if (process.platform !== "linux") {
    const ps = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(process.pid)]).catch(() => undefined);
    return ps?.stdout.includes("+") ?? false;
  }
  const stat = await readFile("/proc/self/stat", "utf8").catch(() => "");
  const [, , group, , , front] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return group !== undefined && group === front;
}
