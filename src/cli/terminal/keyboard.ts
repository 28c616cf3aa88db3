import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** The keyboard while a run is shown: nothing that is typed appears in between, or answers a later question. */
export type Keyboard = Readonly<{
  /** Takes the keys, unless somebody else's job is in front of the terminal. */
  hold(): Promise<void>;
  release(): void;
}>;

/** What Ctrl-C and Ctrl-Z mean while the keyboard is held. */
export type Keys = Readonly<{ interrupt(): void; pause(): void; resume(): void }>;

/** The keyboard of a terminal that somebody sits in front of. */
export function keyboard({ interrupt, pause, resume }: Keys): Keyboard {
  const { stdin } = process;
  let held = false;
  const press = (chunk: Buffer | string): void => {
    for (const byte of Buffer.from(chunk)) {
      if (byte === CTRL_C) interrupt();
      if (byte === CTRL_Z) suspend();
    }
  };
  const release = (): void => {
    if (!held) return;
    held = false;
    stdin.off("data", press).pause();
    stdin.setRawMode(false);
  };
  const hold = async (): Promise<void> => {
    if (held || !(await inForeground())) return;
    held = true;
    stdin.setRawMode(true);
    stdin.on("data", press).resume();
  };
  const suspend = (): void => {
    release();
    pause();
    process.once("SIGCONT", () => {
      resume();
      void hold();
    });
    process.kill(process.pid, "SIGTSTP");
  };
  return { hold, release };
}

const CTRL_C = 3;
const CTRL_Z = 26;

/** A job in the background that touches the terminal is stopped by the system, so it has to know. */
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
