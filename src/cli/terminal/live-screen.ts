import type { Key } from "../../tui/input/keys.ts";
import { createRawInput, type RawInput } from "./raw-input.ts";
import { restoreOnEnd } from "./restore-terminal.ts";

/** What a live screen draws, and what its keys do. */
export type LiveScreenOptions = Readonly<{
  draw(): void;
  /** Erases what was drawn and restores the terminal. This may be called at any time, also twice. */
  clear(): void;
  key(key: Key): void;
  /** Called when the input was closed. */
  closed(): void;
  /** Called before the screen is drawn in a new size. */
  resized?(): void;
  /** Called each `everyMs` while the screen moves, before it is drawn. */
  tick?(): void;
  everyMs?: number;
  /** False for screens without text input. */
  paste?: boolean;
  /** False: standard input is not read, because it belongs to another program. */
  reads?: boolean;
}>;

/** The shortest time between two drawings after changes. */
const FRAME_MS = 100;

/**
 * A screen that a person watches: it reads the keyboard, and is drawn again after changes, with time and in a new size.
 * It gives the terminal back when the process is suspended or ends, and lends it to editors, pagers and other screens.
 */
export class LiveScreen {
  readonly #options: LiveScreenOptions;
  readonly #input: RawInput | undefined;
  #isOpen = false;
  #isAsleep = false; // the process is suspended, or is a background job
  #lent = 0;
  #ticking: NodeJS.Timeout | undefined;
  #drawing: NodeJS.Timeout | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #withdraw: (() => void) | undefined;

  constructor(options: LiveScreenOptions) {
    const { key, closed, reads = true, paste = true } = options;
    this.#options = options;
    const suspend = (): void => {
      this.#isAsleep = true;
      options.clear();
    };
    const resume = (): void => {
      this.#isAsleep = false;
      this.draw();
    };
    this.#input = reads ? createRawInput({ key, closed, suspend, resume, paste }) : undefined;
  }

  open(): void {
    this.#isOpen = true;
    this.#withdraw = restoreOnEnd(() => this.#restore());
    process.stderr.on("resize", this.#resize);
    this.#input?.start();
    this.draw();
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  /** True while other code uses the terminal. */
  isLent(): boolean {
    return this.#lent > 0;
  }

  /** Draws at once, if the terminal can be used now. */
  draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    if (!this.#isOpen || this.#isAsleep || this.#lent > 0) return;
    this.#drawnAt = performance.now();
    this.#options.draw();
  }

  /** Draws soon: many changes in a short time are drawn once. */
  drawSoon(): void {
    if (!this.#isOpen || this.#isAsleep) return;
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#drawnAt));
    this.#drawing ??= setTimeout(() => this.draw(), wait);
  }

  /** Draws in intervals from now on, for texts that change with time. */
  move(isMoving: boolean): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    if (!isMoving) return;
    this.#ticking = setInterval(() => {
      this.#options.tick?.();
      this.drawSoon();
    }, this.#options.everyMs ?? FRAME_MS);
  }

  /** Lends the terminal to other code, such as an editor or another screen, until that code has finished. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#lent += 1;
    this.#options.clear();
    this.#input?.stop();
    try {
      return await work();
    } finally {
      this.#lent -= 1;
      if (this.#isOpen && this.#lent === 0) {
        this.#input?.start();
        this.draw();
      }
    }
  }

  close(): void {
    this.#isOpen = false;
    this.move(false);
    clearTimeout(this.#drawing);
    process.stderr.off("resize", this.#resize);
    this.#withdraw?.();
    this.#restore();
  }

  readonly #resize = (): void => {
    this.#options.resized?.();
    this.draw();
  };

  #restore(): void {
    this.#input?.stop();
    this.#options.clear();
  }
}
