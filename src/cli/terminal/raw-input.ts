import { execFileSync } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { terminalJob } from "./terminal-job.ts";
import { createKeyDecoder, type Key } from "../../tui/input/keys.ts";

/** Reads the keyboard in raw mode. */
export type RawInput = Readonly<{
  /** Starts reading keys. In a background job it starts once the job is in the foreground. */
  start(): void;
  /** Stops reading keys for a time, for example while an editor runs. */
  stop(): void;
}>;

/**
 * The handlers for keys. Ctrl-Z, Ctrl-\ and their signals are handled by this module itself: they suspend and quit as
 * in any other program.
 */
export type RawInputOptions = Readonly<{
  key(key: Key): void;
  /** Called when the input was closed. */
  closed(): void;
  /** Called before the process is suspended, and after it continues. A screen is also hidden in a background job. */
  suspend(): void;
  resume(): void;
  /** False for output that is printed line by line and not drawn: a background job may print. */
  draws?: boolean;
  /** True when the terminal should mark pasted text. False for screens without text input. */
  paste?: boolean;
}>;

/**
 * The time to wait for the rest of an escape sequence. If nothing follows in this time, the person pressed the Escape
 * key.
 */
const ESCAPE_MS = 40;
/** How long to wait until the system has suspended this process. A job without a shell is not suspended. */
const SUSPENDED_MS = 200;
/** How often a background job checks whether it is in the foreground: `fg` sends no signal to a job that is running. */
const BACKGROUND_MS = process.platform === "linux" ? 250 : 1_000;
/** How long the process stays alive to receive the signal that it has sent to itself to end. */
const ENDING_MS = 5_000;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

export function createRawInput(options: RawInputOptions): RawInput {
  const { key, closed, suspend, resume, paste = true, draws = true } = options;
  const { stdin, stderr } = process;
  const decoder = createKeyDecoder();
  const bytes = new StringDecoder("utf8");
  let timer: NodeJS.Timeout | undefined;
  let waiting: NodeJS.Timeout | undefined;
  let [wanted, held, hidden] = [false, false, false];
  const press = (each: Key): void => {
    // Signals the whole job, as the terminal does: a shell or npx may be part of it.
    if (each.ctrl && each.name === "z") return suspendProcess(0);
    if (each.ctrl && each.name === "\\") return void process.kill(0, "SIGQUIT");
    key(each);
  };
  const read = (chunk: Buffer | string): void => {
    clearTimeout(timer);
    for (const each of decoder.push(bytes.write(Buffer.from(chunk)))) press(each);
    if (decoder.pending()) timer = setTimeout(() => decoder.flush().forEach(press), ESCAPE_MS);
  };
  const hide = (): void => {
    if (hidden) return;
    hidden = true;
    suspend();
  };
  const show = (): void => {
    if (!hidden) return;
    hidden = false;
    resume();
  };
  const suspendProcess = (target: number): void => {
    drop();
    hide();
    process.off("SIGTSTP", stopped); // without a listener the signal suspends the process
    process.kill(target, "SIGTSTP");
    // The system does not suspend a job that no shell could continue, so no SIGCONT would follow. The timer also keeps
    // the process alive until it reads the keyboard again.
    setTimeout(goOn, SUSPENDED_MS);
  };
  const stopped = (): void => suspendProcess(process.pid);
  const goOn = (): void => {
    if (!wanted) return;
    process.off("SIGTSTP", stopped).on("SIGTSTP", stopped);
    take();
  };
  /**
   * Takes the terminal again after the process was suspended, also by SIGSTOP: the shell has changed the settings of
   * the terminal and printed over the screen.
   */
  const continued = (): void => {
    if (held && inForeground()) drop();
    else if (held) release();
    if (wanted && draws) hide();
    goOn();
  };
  const quit = (): void => {
    stop();
    suspend();
    setTimeout(() => {}, ENDING_MS); // without open handles Node would exit before the signal arrives
    process.kill(process.pid, "SIGQUIT"); // the listener was removed, so this ends the process
  };
  /** Takes the keyboard, at once or when this job is in the foreground. Until then nothing is drawn. */
  const take = (): void => {
    clearTimeout(waiting);
    if (held || !wanted) return;
    if (!inForeground()) {
      if (draws) hide();
      else show();
      waiting = setTimeout(take, BACKGROUND_MS);
      return;
    }
    held = true;
    // Node skips a terminal mode that it has set before, even if a shell has changed the mode since
    stdin.setRawMode(false);
    stdin.setRawMode(true);
    stdin.on("data", read).once("end", closed).once("error", closed).resume();
    if (paste) stderr.write(PASTE_ON);
    show();
  };
  /** Stops reading without changing the terminal, which belongs to another job. */
  const release = (): void => {
    held = false;
    clearTimeout(timer);
    stdin.off("data", read).off("end", closed).off("error", closed).pause();
  };
  const drop = (): void => {
    if (!held) return;
    release();
    stdin.setRawMode(false);
    if (paste) stderr.write(PASTE_OFF);
  };
  const start = (): void => {
    if (!wanted) process.on("SIGCONT", continued).on("SIGQUIT", quit).on("SIGTSTP", stopped);
    if (!stdin.listeners("error").includes(ignore)) stdin.on("error", ignore);
    wanted = true;
    take();
  };
  const stop = (): void => {
    wanted = false;
    clearTimeout(waiting);
    process.off("SIGCONT", continued).off("SIGQUIT", quit).off("SIGTSTP", stopped);
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
