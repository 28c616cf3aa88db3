import { Option } from "commander";
import { CrewError } from "../../core/schema/error.ts";
import { decimalIn } from "../../core/schema/decimal.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, spanOf } from "../base/flags.ts";

const DAY = 24 * 60 * 60 * 1_000;
const DEFAULT_AGE = 7 * DAY;

/** The command `subcrew gc`. */
export const gc: CliCommand = {
  description:
    "Deletes old runs, and the oldest ones when all runs use too much space. Running runs are never deleted.",
  options: [
    new Option("--older-than <duration>", "delete runs that ended longer ago than this (default: 7d)").argParser(
      spanOf("--older-than", "7d"),
    ),
    new Option("--max-size <size>", "maximum size of all runs together, e.g. 500MB or 1GB").argParser(sizeOf),
    new Option("--unfinished", "also delete runs that were interrupted, paused or parked"),
    new Option("--dry-run", "only list what would be deleted"),
    new Option("--yes", "with --unfinished: do not ask"),
    jsonOption(),
  ],
  examples: [
    ["subcrew gc --dry-run", "list what would be deleted"],
    ["subcrew gc --older-than 30d --max-size 1GB", "by age and by size"],
  ],
  notes: "A run that did not end can still be resumed, so it is kept unless --unfinished is given.",
  act: async (_, flags) => {
    const [{ crewFor }, { terminal }] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/terminal.ts"),
    ]);
    const { kept } = await crewFor({});
    const { olderThan: olderThanMs = DEFAULT_AGE, maxSize, dryRun = false, unfinished = false } = flags;
    if (unfinished && !dryRun && !flags.yes && !flags.json && terminal(flags).attended) {
      const { confirm } = await import("../terminal/confirm.ts");
      if (!(await confirm("Also delete old runs that could still be resumed?", flags))) return 2;
    }
    const gone = await kept.collect({
      olderThanMs,
      now: Date.now(),
      dryRun,
      unfinished,
      ...defined({ maxBytes: maxSize }),
    });
    const bytes = gone.reduce((sum, run) => sum + run.bytes, 0);
    if (flags.json) process.stdout.write(`${jsonText({ dryRun, bytes, runs: gone })}\n`);
    else {
      const word = dryRun ? "would be deleted" : "deleted";
      process.stdout.write(gone.map(({ id, why, bytes: size }) => `${id}  ${word}: ${why}, ${sized(size)}\n`).join(""));
      process.stdout.write(`${gone.length} ${gone.length === 1 ? "run" : "runs"} ${word}, ${sized(bytes)}\n`);
    }
    return 0;
  },
};

const UNITS: Readonly<Record<string, number>> = { "": 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

function sizeOf(text: string): number {
  const [, amount = "", unit = ""] = /^([\d.]+)\s*([KMGT]?B)?$/i.exec(text.trim()) ?? [];
  const size = (decimalIn(amount) ?? Number.NaN) * (UNITS[unit.toUpperCase()] ?? 1);
  if (size <= Number.MAX_SAFE_INTEGER) return Math.round(size);
  throw new CrewError("BAD_INPUT", `--max-size cannot be "${text}".`, "Give a size, as in --max-size 500MB.");
}

function sized(bytes: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, each]) => bytes >= each) ?? ["B", 1];
  return unit === "B" || unit === "" ? `${bytes} B` : `${(bytes / size).toFixed(1)} ${unit}`;
}
