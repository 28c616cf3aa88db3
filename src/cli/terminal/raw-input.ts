import { StringDecoder } from "node:string_decoder";
import { createKeyDecoder, type Key } from "../../tui/input/keys.ts";

/** The keyboard of a program that draws its own prompt. */
export type RawInput = Readonly<{
  /** Reads keys from now on. */
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
}>;

/** Time for the rest of an escape sequence to arrive; after it, Escape was pressed. */
const ESCAPE_MS = 40;
/** Time for the signal to suspend this process. A job without a shell is not suspended. */
const SUSPENDED_MS = 200;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

export function createRawInput({ key, closed, suspend, resume }: RawInputOptions): RawInput {
  const { stdin, stderr } = process;
  const decoder = createKeyDecoder();
  const bytes = new StringDecoder("utf8");
  let timer: NodeJS.Timeout | undefined;
  let held = false;
  let suspended = false;
  const press = (each: Key): void => {
    if (each.ctrl && each.name === "z") return suspendJob();
    if (each.ctrl && each.name === "\\") {
      stop();
      suspend();
      process.kill(0, "SIGQUIT");
      return;
    }
    key(each);
  };
  const read = (chunk: Buffer | string): void => {
    clearTimeout(timer);
    for (const each of decoder.push(bytes.write(Buffer.from(chunk)))) press(each);
    if (decoder.pending()) timer = setTimeout(() => decoder.flush().forEach(press), ESCAPE_MS);
  };
  const suspendJob = (): void => {
    stop();
    suspend();
    suspended = true;
    process.kill(0, "SIGTSTP");
    setTimeout(goOn, SUSPENDED_MS).unref();
  };
  const goOn = (): void => {
    if (!suspended) return;
    suspended = false;
    start();
    resume();
  };
  function start(): void {
    if (held) return;
    held = true;
    process.on("SIGCONT", goOn);
    stdin.setRawMode(true);
    stdin.on("data", read).once("end", closed).resume();
    stderr.write(PASTE_ON);
  }
  function stop(): void {
    if (!held) return;
    held = false;
    clearTimeout(timer);
    if (!suspended) process.off("SIGCONT", goOn);
    stdin.off("data", read).off("end", closed).pause();
    stdin.setRawMode(false);
    stderr.write(PASTE_OFF);
  }
  return { start, stop };
}
