import type { Look } from "../../core/view/look.ts";
import type { TranscriptItem } from "../../tui/chat/transcript-items.ts";
import {
  placeAfter,
  scrolled,
  type TranscriptPlace,
  transcriptKey,
  transcriptRows,
} from "../../tui/chat/transcript-screen.ts";
import type { Highlight } from "../../tui/markdown/options.ts";
import { createRawInput } from "../terminal/raw-input.ts";
import { restoreOnEnd } from "../terminal/restore-terminal.ts";
import { stderrScreen } from "../terminal/stderr-screen.ts";

const ALTERNATE_ON = "\u001b[?1049h\u001b[2J\u001b[H";
const ALTERNATE_OFF = "\u001b[?1049l";

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
export async function browseTranscripts(
  current: () => readonly TranscriptItem[],
  { look, highlight, open = false }: BrowseOptions,
): Promise<void> {
  const { stderr } = process;
  let items = current();
  let screen = stderrScreen();
  const size = () => ({
    columns: screen.columns,
    height: screen.rows,
    options: { look, columns: screen.columns, highlight },
  });
  const last = items.findLastIndex(({ within }) => within === undefined);
  let place: TranscriptPlace = open
    ? { selected: 0, open: new Set(items.keys()), top: 0 }
    : scrolled(items, { selected: Math.max(0, last), open: new Set(), top: 0 }, size());
  const draw = (): void =>
    screen.draw(
      items.length === 0 ? ["Nothing has happened yet. Press q to return."] : transcriptRows(items, place, size()),
    );
  let shown = true;
  await new Promise<void>((done) => {
    const clean = (): void => {
      if (!shown) return;
      stderr.write("\u001b[2J\u001b[H");
      screen = stderrScreen();
      draw();
    };
    const timer = setInterval(() => {
      const fresh = current();
      place = scrolled(fresh, placeAfter(items, fresh, place), size());
      items = fresh;
      if (shown) draw();
    }, FRESH_MS);
    const back = (): void => {
      clearInterval(timer);
      input.stop();
      stderr.off("resize", clean);
      withdraw();
      leave();
      done();
    };
    const enter = (): void => void stderr.write(ALTERNATE_ON);
    const leave = (): void => {
      if (!shown) return;
      shown = false;
      screen.close();
      stderr.write(ALTERNATE_OFF);
    };
    const input = createRawInput({
      key: (key) => {
        const next = transcriptKey(items, place, key, size());
        if (!next) return back();
        place = next;
        draw();
      },
      closed: back,
      suspend: leave,
      resume: () => {
        shown = true;
        enter();
        clean();
      },
    });
    const withdraw = restoreOnEnd(() => {
      input.stop();
      leave();
    });
    stderr.on("resize", clean);
    enter();
    input.start();
    if (shown) draw();
  });
}
