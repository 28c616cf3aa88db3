import { Option } from "commander";
import { formatCost } from "../../core/outcome/usage.ts";
import { isEnded } from "../../core/run/run-status.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { KeptRun } from "../../runtime/background/stored-runs.ts";
import { type Progress, progressOf, settledWords } from "../../core/view/nodes.ts";
import { describe, doingOf } from "../../sinks/status-text.ts";
import type { CliCommand } from "../base/command.ts";
import { jsonOption, outputOptions } from "../base/flags.ts";

/** How many runs that have ended are listed without --all. */
const MOST_ENDED = 5;

/** `subcrew ps` */
export const ps: CliCommand = {
  description: "Lists the runs that work right now, wait, are parked, paused or interrupted, and the last that ended.",
  options: [
    new Option("--all", "every run that was kept"),
    jsonOption(),
    ...outputOptions().filter(({ long }) => long === "--no-color"),
  ],
  examples: [
    ["subcrew ps", "what goes on"],
    ["subcrew ps --all --json", "everything, for a program"],
  ],
  act: async (_, flags) => {
    const [{ crewFor }, { table }, { terminal }] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/table.ts"),
      import("../base/terminal.ts"),
    ]);
    const { kept, runs } = await crewFor({});
    const unended = await kept.list();
    const known = new Set(unended.map(({ id }) => id));
    const ended = (await runs()).filter((id) => !known.has(id)).slice(0, flags.all ? undefined : MOST_ENDED);
    const all = [...unended, ...(await Promise.all(ended.map((id) => kept.look(id))))];
    const rows = all.map((run) => rowFor(run, Date.now()));
    if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
    else if (rows.length === 0) process.stderr.write("There are no runs yet.\n");
    else process.stdout.write(table(rows.map(shown), terminal(flags).look));
    return 0;
  },
};

type Row = Progress &
  Readonly<{
    id: string;
    status: string;
    name: string;
    background: boolean;
    ageMs: number;
    doing: string;
    usd: number;
    cost: string;
  }>;

function rowFor({ id, life, state, background, problems }: KeptRun, now: number): Row {
  const doing = isEnded(life)
    ? ""
    : life === "interrupted" || life === "paused"
      ? `subcrew resume ${id}`
      : life === "damaged"
        ? problems.join(" ")
        : doingOf(state);
  const cost = state.usage.turns === 0 ? "" : formatCost(state.cost);
  return {
    id,
    status: life,
    name: describe(state),
    background,
    ageMs: state.startedAt === 0 ? 0 : now - state.startedAt,
    ...progressOf(state),
    doing,
    usd: state.cost.usd,
    cost,
  };
}

function shown(row: Row): Record<string, string> {
  const { id, status, ageMs, cost, name, doing, background } = row;
  return {
    id,
    status,
    where: background ? "background" : "",
    age: formatDuration(ageMs, "spaced"),
    tasks: settledWords(row).join(", "),
    cost: cost === "$0.0000" ? "free" : cost,
    what: [name, doing].filter((part) => part !== "").join(": "),
  };
}
