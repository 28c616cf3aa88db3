import { closeSync, constants, openSync, write } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { OpenKey } from "../../core/secrets/private-key.ts";
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

/** Collects the output of a program. */
export const collectOutput = (options: OutputOptions): Output => new ChildOutput(options);

class ChildOutput implements Output {
  readonly #path: string | undefined;
  readonly #file: Spill | undefined;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #open = new Set<Readable>();
  /** The end of the output, and its part since the last call of `news`. */
  readonly #kept = new Tail();
  readonly #fresh = new Tail();
  readonly #decoder = new TextDecoder(); // holds back an incomplete UTF-8 character
  #cut = 0;
  readonly #cutKey = new OpenKey();
  readonly #newsKey = new OpenKey();
  #allEnded = (): void => {};
  /** How many more bytes of output are kept. */
  #left = Number.POSITIVE_INFINITY;
  #forgotten = false;

  constructor({ file, redact, onText }: OutputOptions) {
    this.#path = file;
    this.#file = file === undefined ? undefined : redact ? redactedSpill(file, redact) : spillFile(file);
    this.#onText = onText;
  }

  read(...streams: readonly (Readable | null)[]): void {
    for (const stream of streams) {
      if (!stream) continue;
      this.#open.add(stream);
      const decoder = new TextDecoder();
      readPieces(stream, {
        isFull: () => this.#left <= 0,
        take: (piece) => {
          if (this.#left <= 0) return;
          this.#take(piece);
          this.#onText?.(decoder.decode(piece, { stream: true }));
        },
        resume: () => this.#resume(stream),
        ended: () => {
          this.#open.delete(stream);
          if (this.#open.size === 0) this.#allEnded();
        },
      });
    }
  }

  drain(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0 || this.#forgotten) return resolve();
      // Node fires timers before it reads pipes: after a long pause, the pipes must be read once more before the wait
      // ends.
      const timer = setTimeout(() => setImmediate(resolve), ms);
      this.#allEnded = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  expectEnd(): void {
    this.#left = Math.min(this.#left, KEPT_BYTES);
  }

  forget(): void {
    if (this.#forgotten) return;
    this.#forgotten = true;
    this.#left = 0;
    this.#file?.abandon();
    this.#cut += this.#kept.bytes;
    this.#kept.clear();
    this.#fresh.clear();
  }

  isForgotten(): boolean {
    return this.#forgotten;
  }

  text(): string {
    const bytes = this.#kept.joined();
    if (bytes.length === 0) return "";
    const text = wholeCharacters(bytes, this.#cut > 0);
    return this.#cutKey.masked(text, REDACTED);
  }

  news(): string {
    const text = this.#decoder.decode(this.#fresh.joined(), { stream: true });
    this.#fresh.clear();
    return this.#newsKey.take(text, REDACTED);
  }

  cutBytes(): number {
    return this.#cut;
  }

  file(): string | undefined {
    return this.#file?.begun() ? this.#path : undefined;
  }

  #take(piece: Buffer): void {
    this.#left -= piece.length;
    const file = this.#file;
    const before = this.#kept.chunks();
    const isLong = this.#kept.bytes + piece.length > KEPT_BYTES;
    if (file && isLong && this.#cut === 0 && !file.begun()) for (const each of before) file.write(each);
    if (file && (file.begun() || isLong)) file.write(piece);
    for (const first of this.#kept.push(piece)) {
      this.#cut += first.length;
      this.#cutKey.follow(first.toString("latin1"));
    }
    this.#fresh.push(piece);
  }

  /**
   * Continues to read a stream. A program that was told to end and still prints without end has to wait, because its full
   * pipe is read rarely. It then does not use the processor time that is needed to end it.
   */
  #resume(stream: Readable): void {
    if (this.#left <= 0) return resumeLater(stream, this.#forgotten);
    const go = (): void => awaitReadingTurn(() => stream.resume());
    if (!this.#file || this.#file.waiting() <= WAITING_BYTES) return go();
    this.#file.settled().then(go, go);
  }
}

/** The last chunks of an output. Chunks at the beginning are dropped as long as enough bytes remain. */
class Tail {
  #chunks: Buffer[] = [];
  bytes = 0;

  /** Adds a chunk and returns the chunks that were dropped. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.bytes += chunk.length;
    const dropped: Buffer[] = [];
    while (this.bytes - (this.#chunks[0]?.length ?? 0) >= KEPT_BYTES) {
      const first = this.#chunks.shift()!;
      this.bytes -= first.length;
      dropped.push(first);
    }
    return dropped;
  }

  chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  joined(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  clear(): void {
    this.#chunks = [];
    this.bytes = 0;
  }
}

/** The use of a stream that is read in pieces. */
type PieceUser = Readonly<{
  /** True when no further pieces are wanted. */
  isFull(): boolean;
  take(piece: Buffer): void;
  /** Continues to read the stream after a pause. */
  resume(): void;
  ended(): void;
}>;

/** Reads a stream in pieces, and waits for a reading turn after each of them. */
function readPieces(stream: Readable, user: PieceUser): void {
  /**
   * Chunks that wait to be handled. There can be several, because Node resumes the streams of a program that has exited.
   */
  const chunks: Buffer[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
    if (chunks.length === 0) user.ended();
  };
  const handle = (at: number): void => {
    const chunk = chunks[0]!;
    user.take(chunk.subarray(at, at + PIECE_BYTES));
    if (!user.isFull() && at + PIECE_BYTES < chunk.length) return awaitReadingTurn(() => handle(at + PIECE_BYTES));
    chunks.shift();
    if (chunks.length > 0) awaitReadingTurn(() => handle(0));
    else if (isOver) user.ended();
    else user.resume();
  };
  stream.on("data", (chunk: Buffer) => {
    if (chunks.length === 0 && chunk.length <= PIECE_BYTES) return user.take(chunk);
    chunks.push(chunk);
    stream.pause();
    if (chunks.length === 1) handle(0);
  });
  stream.once("end", end).once("close", end).on("error", end);
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
