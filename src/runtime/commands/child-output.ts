import { closeSync, constants, openSync, write } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { endsInKey, type InKey, withoutOpenKey } from "../../core/secrets/private-key.ts";
import { REDACTED } from "../../core/secrets/redact.ts";
import { awaitReadingTurn } from "./reading-turns.ts";
import { redactedStream } from "./redacted-stream.ts";

/** Output of a program, both streams in order. The end of the output is in memory, the whole output in a file. */
export type Output = Readonly<{
  read(...streams: readonly (Readable | null)[]): void;
  /** Waits until the streams end, with a timeout: a process that was left behind can keep them open for ever. */
  drain(ms: number): Promise<void>;
  close(): Promise<void>;
  /** To be called when the program was told to end: from then on its output is kept only up to a limit. */
  expectEnd(): void;
  /** To be called when the result of the program will not be used: drops the output that is not yet in the file. */
  forget(): void;
  isForgotten(): boolean;
  /** The last part of the output, starting at a whole character. */
  text(): string;
  /** The output since this function was last called. */
  news(): string;
  /** How many bytes of the output are missing before `text`. */
  cutBytes(): number;
  /** The file with the whole output, if it was too long to keep. */
  file(): string | undefined;
}>;

/** How many bytes of the end of the output are kept in memory. */
const KEPT_BYTES = 262_144;
/** Maximum size of the output file. */
const FILE_BYTES = 100_000_000;
/** Reading pauses while more than this number of bytes is waiting to be written. */
const WAITING_BYTES = 1_000_000;
/** How often the pipe of a program that was told to end is read while the pipe is full. */
const ENDING_READ_MS = 200;
/** How often the pipe of a program is read while its output is discarded. */
const FORGOTTEN_READ_MS = 500;
/** If a timer fires later than this, the machine has no free processor time. */
const LATE_MS = 100;
/** Secrets are removed from pieces of this size, so that a signal waits for one piece at most. */
const PIECE_BYTES = 8_192;

/** The file for the output; `redact` removes secrets from the text before it is written. */
export type OutputOptions = Readonly<{
  file?: string;
  redact?: (text: string) => string;
  onText?: (text: string) => void;
}>;

export function collectOutput({ file: path, redact, onText }: OutputOptions): Output {
  const kept: Buffer[] = [];
  const fresh: Buffer[] = [];
  const open = new Set<Readable>();
  const decoder = new TextDecoder(); // holds back an incomplete UTF-8 character
  const file = path === undefined ? undefined : redact ? redactedSpill(path, redact) : spillFile(path);
  let keptBytes = 0;
  let freshBytes = 0;
  let cut = 0;
  let cutInKey: InKey | undefined;
  let newsInKey: InKey | undefined;
  let allEnded = (): void => {};
  /** How many more bytes of output are kept. */
  let left = Number.POSITIVE_INFINITY;
  let forgotten = false;
  const whenWritten = (go: () => void): void => {
    if (!file || file.waiting() <= WAITING_BYTES) return go();
    file.settled().then(go, go);
  };

  const take = (chunk: Buffer): void => {
    kept.push(chunk);
    fresh.push(chunk);
    keptBytes += chunk.length;
    freshBytes += chunk.length;
    if (keptBytes > KEPT_BYTES && file && cut === 0 && !file.begun())
      for (const each of kept.slice(0, -1)) file.write(each);
    if (file && (file.begun() || keptBytes > KEPT_BYTES)) file.write(chunk);
    while (keptBytes - (kept[0]?.length ?? 0) >= KEPT_BYTES) {
      const first = kept.shift()!;
      keptBytes -= first.length;
      cut += first.length;
      cutInKey = endsInKey(first.toString("latin1"), cutInKey);
    }
    while (freshBytes - (fresh[0]?.length ?? 0) >= KEPT_BYTES) freshBytes -= fresh.shift()!.length;
  };

  return {
    read: (...streams) => {
      for (const stream of streams) {
        if (!stream) continue;
        open.add(stream);
        const own = new TextDecoder();
        const look = (piece: Buffer): void => {
          if (left <= 0) return;
          left -= piece.length;
          take(piece);
          onText?.(own.decode(piece, { stream: true }));
        };
        let looking = false;
        let over = false;
        const end = (): void => {
          over = true;
          if (looking) return;
          open.delete(stream);
          if (open.size === 0) allEnded();
        };
        const goOn = (): void => {
          looking = false;
          if (over) return end();
          // A program that was told to end and still prints without end has to wait, because its full pipe is read
          // rarely. It then does not use the processor time that is needed to end it.
          if (left <= 0) resumeLater(stream, forgotten);
          else whenWritten(() => awaitReadingTurn(() => stream.resume()));
        };
        /**
         * Chunks that wait to be handled. There can be several, because Node resumes the streams of a program that has
         * exited.
         */
        const chunks: Buffer[] = [];
        const lookOn = (at: number): void => {
          const chunk = chunks[0]!;
          look(chunk.subarray(at, at + PIECE_BYTES));
          if (left > 0 && at + PIECE_BYTES < chunk.length) return awaitReadingTurn(() => lookOn(at + PIECE_BYTES));
          chunks.shift();
          if (chunks.length > 0) awaitReadingTurn(() => lookOn(0));
          else goOn();
        };
        stream.on("data", (chunk: Buffer) => {
          if (!looking && chunk.length <= PIECE_BYTES) return look(chunk);
          chunks.push(chunk);
          stream.pause();
          if (looking) return;
          looking = true;
          lookOn(0);
        });
        stream.once("end", end).once("close", end).on("error", end);
      }
    },
    drain: (ms) =>
      new Promise((resolve) => {
        if (open.size === 0 || forgotten) return resolve();
        // Node fires timers before it reads pipes: after a long pause, the pipes must be read once more before the wait
        // ends.
        const timer = setTimeout(() => setImmediate(resolve), ms);
        allEnded = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    close: async () => file?.close(),
    expectEnd: () => {
      left = Math.min(left, KEPT_BYTES);
    },
    forget: () => {
      if (forgotten) return;
      forgotten = true;
      left = 0;
      file?.abandon();
      cut += keptBytes;
      keptBytes = 0;
      kept.length = 0;
      fresh.length = 0;
      freshBytes = 0;
    },
    isForgotten: () => forgotten,
    text: () => {
      if (kept.length === 0) return "";
      const text = wholeCharacters(Buffer.concat(kept), cut > 0);
      return cutInKey ? withoutOpenKey(text, REDACTED, cutInKey) : text;
    },
    news: () => {
      const text = decoder.decode(Buffer.concat(fresh), { stream: true });
      fresh.length = 0;
      freshBytes = 0;
      const open = newsInKey;
      newsInKey = endsInKey(text, open);
      return open ? withoutOpenKey(text, REDACTED, open) : text;
    },
    cutBytes: () => cut,
    file: () => (file?.begun() ? path : undefined),
  };
}

/**
 * Continues to read the output of a program after a pause, when the program was told to end. `forgotten`: the output is
 * discarded. If the machine has no free processor time, discarded output is not read at all: ending the program needs
 * that time.
 */
function resumeLater(stream: Readable, forgotten: boolean): void {
  const ms = forgotten ? FORGOTTEN_READ_MS : ENDING_READ_MS;
  const due = performance.now() + ms;
  setTimeout(() => {
    if (!forgotten || performance.now() < due + LATE_MS) stream.resume();
  }, ms).unref();
}

/** Decodes bytes as UTF-8; if the beginning of the output was cut off, an incomplete first character is dropped. */
function wholeCharacters(bytes: Buffer, cut: boolean): string {
  let start = 0;
  while (cut && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return new TextDecoder().decode(bytes.subarray(start));
}

const writeTo = promisify(write);

type Spill = Readonly<{
  begun(): boolean;
  /** Whether the file has reached its size limit. */
  full(): boolean;
  write(chunk: Buffer): void;
  waiting(): number;
  settled(): Promise<void>;
  /** Drops everything that is not written yet, and all further output. */
  abandon(): void;
  close(): Promise<void>;
}>;

/** Writes the output to a file, without secrets. */
function redactedSpill(path: string, redact: (text: string) => string): Spill {
  const file = spillFile(path);
  const stream = redactedStream(redact);
  return {
    ...file,
    write: (chunk) => {
      if (!file.full()) file.write(Buffer.from(stream.take(chunk)));
    },
    close: async () => {
      if (file.begun() && !file.full()) file.write(Buffer.from(stream.rest()));
      await file.close();
    },
  };
}

/**
 * A file that is created at the first write. Data that arrives during a write is written together afterwards, because
 * each write takes long. A write error loses output but has no other effect.
 */
function spillFile(path: string): Spill {
  const flags =
    constants.O_WRONLY |
    constants.O_CREAT |
    constants.O_TRUNC |
    (constants.O_NOFOLLOW ?? 0) |
    (constants.O_NONBLOCK ?? 0);
  let descriptor: number | undefined;
  let begun = false;
  let writing: Promise<void> | undefined;
  let chunks: Buffer[] = [];
  let waiting = 0;
  let written = 0;
  const begin = (): void => {
    begun = true;
    try {
      descriptor = openSync(path, flags, 0o600);
    } catch {
      // the output could not be written and is lost
    }
  };
  const writeAll = async (): Promise<void> => {
    while (chunks.length > 0) {
      const all = Buffer.concat(chunks);
      chunks = [];
      if (descriptor !== undefined) await writeTo(descriptor, all).catch(() => {});
      waiting -= all.length;
    }
    writing = undefined;
  };
  return {
    begun: () => begun,
    full: () => written >= FILE_BYTES,
    write: (chunk) => {
      if (!begun) begin();
      if (written >= FILE_BYTES) return;
      written += chunk.length;
      waiting += chunk.length;
      chunks.push(chunk);
      writing ??= writeAll();
    },
    waiting: () => waiting,
    settled: async () => writing,
    abandon: () => {
      waiting -= chunks.reduce((sum, { length }) => sum + length, 0);
      chunks = [];
      written = FILE_BYTES;
    },
    close: async () => {
      await writing;
      if (descriptor !== undefined) closeSync(descriptor); // closed synchronously: with thirty files, asynchronous calls would wait for free threads
      descriptor = undefined;
    },
  };
}
