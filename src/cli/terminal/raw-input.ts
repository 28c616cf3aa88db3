import { execFileSync } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { guardTerminal } from "./terminal-guard.ts";
import { terminalJob } from "./terminal-job.ts";
import { createKeyDecoder, type Key } from "../../tui/input/keys.ts";

/** Reads the keyboard in raw mode. */
export type RawInput = Readonly<{
  /** Starts reading keys. In a background job it starts once the job is in the foreground. */
  start(): void;
  /** Stops reading keys, for example while an editor runs. */
  stop(): void;
}>;

/**
 * The handlers for keys. Ctrl-Z and Ctrl-\ are handled by this module itself: they suspend and quit as in any other
 * program.
 */
export type RawInputOptions = Readonly<{
  key(key: Key): void;
  /** Called when the input was closed. */
  closed(): void;
  /** Called before the process is suspended, and after it continues. */
  suspend(): void;
  resume(): void;
  /** True when the terminal should mark pasted text. False for screens without text input. */
  paste?: boolean;
}>;

/** The time to wait for the rest of an escape sequence; after it, the Escape key was pressed. */
const ESCAPE_MS = 40;
/** How long to wait until the system has suspended this process. A job without a shell is not suspended. */
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
    // Signals the whole job, as the terminal does: a shell or npx may be part of it.
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
    process.kill(process.pid, "SIGQUIT"); // the listener was removed, so this ends the process
  };
  const take = (): void => {
    if (held || !wanted || !inForeground()) return;
    held = true;
    guardTerminal("keys", true);
    if (paste) guardTerminal("paste", true);
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
    if (paste) guardTerminal("paste", false);
    guardTerminal("keys", false);
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

/** Ignores errors: a closed terminal refuses to leave raw mode. */
const ignore = (): void => {};

/** True when this job is in the foreground. The system stops a background job that uses the terminal. */
function inForeground(): boolean {
  if (process.platform === "win32") return true;
  try {
    if (process.platform !== "linux")
      return execFileSync("ps", ["-o", "stat=", "-p", String(process.pid)], { encoding: "utf8" }).includes("+");
    const job = terminalJob();
    return job !== undefined && job.group === job.front;
  } catch {
    return false;
  }
}
