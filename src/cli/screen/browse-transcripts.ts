import type { Look } from "../../core/view/look.ts";
import type { TranscriptItem } from "../../tui/chat/transcript-items.ts";
import {
  placeAfter,
  scrolled,
  type TranscriptPlace,
  transcriptKey,
  transcriptRows,
} from "../../tui/chat/transcript-screen.ts";
import type { Key } from "../../tui/input/keys.ts";
import type { Highlight } from "../../tui/markdown/options.ts";
import { LiveScreen } from "../terminal/live-screen.ts";
import { stderrScreen } from "../terminal/stderr-screen.ts";

const ALTERNATE_ON = "\u001b[?1049h";
const ALTERNATE_OFF = "\u001b[?1049l";
const ERASE = "\u001b[2J\u001b[H";

/** The interval at which new steps are read while the screen is open. */
const FRESH_MS = 500;

export type BrowseOptions = Readonly<{
  look: Look;
  highlight: Highlight | undefined;
  /** True: begins at the first row, with all rows open. */
  open?: boolean;
}>;

/**
 * Shows the steps of a conversation on the alternate screen, including steps that are added meanwhile, until the person
 * returns. It opens at the end.
 */
export function browseTranscripts(current: () => readonly TranscriptItem[], options: BrowseOptions): Promise<void> {
  return new TranscriptBrowser(current, options).browse();
}

class TranscriptBrowser {
  readonly #current: () => readonly TranscriptItem[];
  readonly #options: BrowseOptions;
  readonly #live: LiveScreen;
  #screen = stderrScreen();
  #items: readonly TranscriptItem[];
  #place: TranscriptPlace;
  #isShown = false;
  #done = (): void => {};

  constructor(current: () => readonly TranscriptItem[], options: BrowseOptions) {
    this.#current = current;
    this.#options = options;
    this.#items = current();
    const last = Math.max(
      0,
      this.#items.findLastIndex(({ within }) => within === undefined),
    );
    this.#place = options.open
      ? { selected: 0, open: new Set(this.#items.keys()), top: 0 }
      : scrolled(this.#items, { selected: last, open: new Set(), top: 0 }, this.#size());
    this.#live = new LiveScreen({
      draw: () => this.#draw(),
      clear: () => this.#leave(),
      key: (key) => this.#key(key),
      closed: () => this.#done(),
      resized: () => this.#erase(),
      tick: () => this.#refresh(),
      everyMs: FRESH_MS,
    });
  }

  async browse(): Promise<void> {
    const returned = new Promise<void>((resolve) => (this.#done = resolve));
    this.#live.move(true);
    this.#live.open();
    await returned;
    this.#live.close();
  }

  #size(): Parameters<typeof transcriptRows>[2] {
    const { columns, rows: height } = this.#screen;
    const { look, highlight } = this.#options;
    return { columns, height, options: { look, columns, highlight } };
  }

  #refresh(): void {
    const fresh = this.#current();
    this.#place = scrolled(fresh, placeAfter(this.#items, fresh, this.#place), this.#size());
    this.#items = fresh;
  }

  #key(key: Key): void {
    const next = transcriptKey(this.#items, this.#place, key, this.#size());
    if (!next) return this.#done();
    this.#place = next;
    this.#live.draw();
  }

  #draw(): void {
    if (!this.#isShown) {
      this.#isShown = true;
      process.stderr.write(ALTERNATE_ON);
      this.#erase();
    }
    this.#screen.draw(
      this.#items.length === 0
        ? ["Nothing has happened yet. Press q to return."]
        : transcriptRows(this.#items, this.#place, this.#size()),
    );
  }

  /** Erases the alternate screen, whose rows a terminal of another size may have moved. */
  #erase(): void {
    if (!this.#isShown) return;
    process.stderr.write(ERASE);
    this.#screen = stderrScreen();
  }

  #leave(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#screen.close();
    process.stderr.write(ALTERNATE_OFF);
  }
}
