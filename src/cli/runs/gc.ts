import { Option } from "commander";
import { isEnded } from "../../core/run/run-status.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { formatSize } from "../../core/schema/size.ts";
import type { CollectedRun } from "../../runtime/background/delete-runs.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, sizeFlag, spanOf } from "../base/flags.ts";

const DAY = 24 * 60 * 60 * 1_000;
const DEFAULT_AGE = 7 * DAY;
/** A deletion of more runs than this number is confirmed. */
const MAX_UNASKED = 10;

/** The command `subcrew gc`. */
export const gc: CliCommand = {
  description:
    "Deletes old runs, and the oldest ones when all runs use too much space. Running runs are never deleted.",
  options: [
    new Option("--older-than <duration>", "delete runs that ended longer ago than this (default: 7d)").argParser(
      spanOf("--older-than", "7d"),
    ),
    new Option("--max-size <size>", "maximum size of all runs together, e.g. 500MB or 1GB").argParser(
      sizeFlag("--max-size", "500MB"),
    ),
    new Option("--unfinished", "also delete runs that were interrupted, paused or parked"),
    new Option("--dry-run", "only list what would be deleted"),
    new Option("--yes", "do not ask"),
    jsonOption(),
  ],
  examples: [
    ["subcrew gc --dry-run", "list what would be deleted"],
    ["subcrew gc --older-than 30d --max-size 1GB", "by age and by size"],
  ],
  notes: `A run that did not end can still be resumed, so it is kept unless --unfinished is given. The command asks before it deletes such a run, a run that ended less than a day ago, or more than ${MAX_UNASKED} runs; without a terminal, this needs --yes.`,
  act: async (_, flags) => {
    const [{ crewFor }, { confirm }] = await Promise.all([
      import("../launch/start.ts"),
      import("../terminal/confirm.ts"),
    ]);
    const { kept } = await crewFor({});
    const { olderThan: olderThanMs = DEFAULT_AGE, maxSize, dryRun = false, unfinished = false } = flags;
    const now = Date.now();
    const gone = await kept.collect({
      olderThanMs,
      now,
      dryRun,
      unfinished,
      agree: async (runs) => {
        const question = questionAbout(runs, now);
        return question === undefined || confirm(question, flags);
      },
      ...defined({ maxBytes: maxSize }),
    });
    if (gone === undefined) return 2;
    const bytes = gone.reduce((sum, run) => sum + run.bytes, 0);
    if (flags.json) process.stdout.write(`${jsonText({ dryRun, bytes, runs: gone })}\n`);
    else {
      const word = dryRun ? "would be deleted" : "deleted";
      process.stdout.write(
        gone.map(({ id, why, bytes: size }) => `${id}  ${word}: ${why}, ${formatSize(size)}\n`).join(""),
      );
      process.stdout.write(`${gone.length} ${gone.length === 1 ? "run" : "runs"} ${word}, ${formatSize(bytes)}\n`);
    }
    return 0;
  },
};

/** The question before a deletion that a person may not have meant; `undefined` if there is nothing to ask. */
function questionAbout(runs: readonly CollectedRun[], now: number): string | undefined {
  const young = runs.filter(({ at }) => now - at < DAY).length;
  const resumable = runs.filter(({ life }) => !isEnded(life) && life !== "damaged").length;
  if (young === 0 && resumable === 0 && runs.length <= MAX_UNASKED) return undefined;
  const details = [
    ...(young > 0 ? [`${young} less than a day old`] : []),
    ...(resumable > 0 ? [`${resumable} that can still be resumed`] : []),
  ];
  const among = details.length > 0 ? `, among them ${details.join(" and ")}` : "";
  return `Delete ${runs.length} ${runs.length === 1 ? "run" : "runs"}${among}?`;
}
