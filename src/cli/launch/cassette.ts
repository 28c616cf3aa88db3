import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { readCassette } from "../../runtime/cassette/cassette.ts";
import type { Deck, DeckMaker } from "../../runtime/cassette/deck.ts";
import { recording, saveTo } from "../../runtime/cassette/record.ts";
import { replaying } from "../../runtime/cassette/replay.ts";
import { writeProblem } from "../base/file-problem.ts";
import type { Flags } from "../base/flags.ts";

/** The recording or replay that `--record` or `--replay` asks for. */
export type CassetteUse = Readonly<{
  deck?: DeckMaker;
  /** Reports requests that were not in the recording; returns the exit code that results from it. */
  end(code: number): number;
}>;

/** Opens the recording that `--record` or `--replay` names. */
export async function cassetteFor({ record, replay, replayUntil, bg }: Flags): Promise<CassetteUse> {
  if (record === undefined && replay === undefined && replayUntil === undefined) return { end: (code) => code };
  if (record !== undefined && replay !== undefined) throw twice;
  if (bg)
    throw new CrewError("BAD_INPUT", "A run in the background cannot be recorded or replayed.", "Leave out --bg.");
  if (record !== undefined) {
    await makeFolderOf(resolve(record));
    return { deck: recording(saveTo(resolve(record))), end: (code) => code };
  }
  if (replay === undefined)
    throw new CrewError("BAD_INPUT", "--replay-until requires --replay.", "Give the recording with --replay FILE.");
  const cassette = await readCassette(replay);
  const make = replaying(cassette, replayUntil === undefined ? {} : { until: replayUntil });
  let made: Deck | undefined;
  return {
    deck: (crew) => {
      made = make(crew);
      return made;
    },
    end: (code) => {
      const drift = made?.drift() ?? [];
      if (drift.length === 0) return code;
      const lines = drift.map((text) => `  ${sanitize(text)}\n`);
      process.stderr.write(
        `\nThe run made ${drift.length === 1 ? "a request that is" : `${drift.length} requests that are`} not in ${replay}:\n${lines.join("")}`,
      );
      process.stderr.write("Record again with --record, or undo the change.\n");
      return 1;
    },
  };
}

/**
 * Creates the folder of the recording before the run begins, so that a path that cannot be written fails at once and
 * not at the end.
 */
async function makeFolderOf(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await access(dirname(file), constants.W_OK);
    const there = await stat(file).catch(() => undefined);
    if (there?.isDirectory()) throw Object.assign(new Error("the path is a folder"), { code: "EISDIR" });
  } catch (cause) {
    throw new CrewError(
      "BAD_FILE",
      `The recording "${file}" cannot be written: ${writeProblem(cause)}.`,
      "Name a file in a folder that you may write to.",
      { cause },
    );
  }
}

const twice = new CrewError("BAD_INPUT", "--record and --replay cannot be combined.", "Use one of them.");
