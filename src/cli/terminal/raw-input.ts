import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { createKeyDecoder, type Key } from "../../tui/input/keys.ts";

/** The keyboard of a program that handles every key itself. */
export type RawInput = Readonly<{
  /** Reads keys from now on, unless this process is in the background of the terminal; then, once it is in the foreground. */
  start(): void;
  /** Gives the keyboard back, for example to an editor. */
  stop(): void;
}>;

/** What keys do. Ctrl-Z and Ctrl-\ are handled here: they suspend and quit like everywhere else. */
export type RawInputOptions = Readonly<{
  key(key: Key): void;
  /** The input was closed. */
  closed(): void;
  /** Before the process is suspended, and after it continues. */
  suspend(): void;
  resume(): void;
  /** True: the terminal marks pasted text. False where no text is typed. */
  paste?: boolean;
}>;

/** Time for the rest of an escape sequence to arrive; after it, Escape was pressed. */
const ESCAPE_MS = 40;
/** Time for the signal to suspend this process. A job without a shell is not suspended. */
const SUSPENDED_MS = 200;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

export function createRawInput({ key, closed, suspend, resume, paste = true }: RawInputOptions): RawInput {
  const { stdin, stderr } = process;
  const decoder = createKeyDecoder();
  const bytes = new StringDecoder("utf8");
  let timer: NodeJS.Timeout | undefined;
  let [wanted, held, suspended] = [false, false, false];
  const press = (each: Key): void => {
    if (each.ctrl && each.name === "z") return suspendJob();
    if (each.ctrl && each.name === "\\") return void process.kill(0, "SIGQUIT");
    key(each);
  };
  const read = (chunk: Buffer | string): void => {
    clearTimeout(timer);
    for (const each of decoder.push(bytes.write(Buffer.from(chunk)))) press(each);
    if (decoder.pending()) timer = setTimeout(() => decoder.flush().forEach(press), ESCAPE_MS);
  };
  const suspendJob = (): void => {
    drop();
    suspend();
    suspended = true;
    // As the terminal would do it: to the whole job, of which a shell or npx may be a part.
    process.kill(0, "SIGTSTP");
    // The system does not suspend a job that no shell could continue, so no SIGCONT would follow.
    setTimeout(goOn, SUSPENDED_MS).unref();
  };
  const goOn = (): void => {
    take();
    if (suspended) resume();
    suspended = false;
  };
  const quit = (): void => {
    stop();
    suspend();
    process.kill(process.pid, "SIGQUIT"); // there is no listener any more, so this ends the process like a kill
  };
  const take = (): void => {
    if (held || !wanted || !inForeground()) return;
    held = true;
    stdin.setRawMode(true);
    stdin.on("data", read).once("end", closed).once("error", closed).resume();
    if (paste) stderr.write(PASTE_ON);
  };
  const drop = (): void => {
    if (!held) return;
    held = false;
    clearTimeout(timer);
    stdin.off("data", read).off("end", closed).off("error", closed).pause();
    stdin.setRawMode(false);
    if (paste) stderr.write(PASTE_OFF);
  };
  const start = (): void => {
    if (!wanted) process.on("SIGCONT", goOn).on("SIGQUIT", quit);
    if (!stdin.listeners("error").includes(ignore)) stdin.on("error", ignore);
    wanted = true;
    take();
  };
  const stop = (): void => {
    wanted = false;
    process.off("SIGCONT", goOn).off("SIGQUIT", quit);
    drop();
  };
  return { start, stop };
}

/** A terminal that was closed refuses to be set to lines again. */
const ignore = (): void => {};

/** Whether this job is in the foreground: the system stops a background job that uses the terminal. */
function inForeground(): boolean {
  if (process.platform === "win32") return true;
  try {
    if (process.platform !== "linux")
      return execFileSync("ps", ["-o", "stat=", "-p", String(process.pid)], { encoding: "utf8" }).includes("+");
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , front] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group !== undefined && group === front;
  } catch {
    return false;
  }
}
