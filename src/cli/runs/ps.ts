import { basename } from "node:path";
import { Option } from "commander";
import { formatCost } from "../../core/outcome/usage.ts";
import { isEnded } from "../../core/run/run-status.ts";
import type { State } from "../../core/run/state.ts";
import { defined } from "../../core/text/defined.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { KeptRun } from "../../runtime/background/kept-run.ts";
import { describe, type Progress, progressOf, settledWords } from "../../core/view/nodes.ts";
import type { Look } from "../../core/view/look.ts";
import { took } from "../../core/view/words.ts";
import { doingOf } from "../../sinks/status-text.ts";
import type { CliCommand } from "../base/command.ts";
import { colorOption, commaList, type Flags, jsonOption } from "../base/flags.ts";

/** The maximum number of ended runs listed without --all. */
const MOST_ENDED = 5;

/** The command `subcrew ps`. */
export const ps: CliCommand = {
  words: "[text]",
  usage: "[TEXT]",
  description: "Lists the runs that are running, waiting, parked, paused or interrupted, and the last ones that ended.",
  options: [
    new Option("--all", "every stored run"),
    new Option("--here", "only runs of this folder"),
    new Option("--status <states>", "only runs in these states, as in running,waiting").argParser(commaList),
    jsonOption(),
    colorOption(),
  ],
  examples: [
    ["subcrew ps", "list current runs"],
    ["subcrew ps --here --status waiting,parked", "runs of this folder that wait for a person, a provider or a limit"],
    ["subcrew ps login --all", "every run whose name or prompt has this text"],
    ["subcrew ps --all --json", "all runs as JSON"],
  ],
  act: async ([text], flags) => {
    const [{ crewFor }, { table }, { stdoutLook }] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/table.ts"),
      import("../base/terminal.ts"),
    ]);
    const { kept, settings } = await crewFor({});
    const look = stdoutLook(flags, settings.config);
    const isFiltered = text !== undefined || flags.here === true || flags.status !== undefined;
    const all = await kept.list({ ended: flags.all || isFiltered ? Number.POSITIVE_INFINITY : MOST_ENDED });
    const rows = all.map((run) => rowFor(run, Date.now())).filter((row) => isWanted(row, text, flags));
    if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
    else if (rows.length === 0) process.stderr.write(isFiltered ? "No run matches.\n" : "No runs yet.\n");
    else process.stdout.write(table([HEADINGS, ...rows.map((row) => shown(row, look))], look, { project: 12 }));
    return 0;
  },
};

type Row = Progress &
  Readonly<{
    id: string;
    status: string;
    name: string;
    prompt: string;
    /** The working folder of the run. */
    cwd: string;
    background: boolean;
    host?: string;
    pidNamespace?: string;
    ageMs: number;
    doing: string;
    usd: number;
    cost: string;
  }>;

function rowFor({ id, life, state, background, problems, owner }: KeptRun, now: number): Row {
  const doing = isEnded(life)
    ? ""
    : life === "interrupted" || life === "paused"
      ? `subcrew resume ${id}`
      : life === "damaged"
        ? problems.join(" ")
        : owner?.host !== undefined
          ? `on the machine "${owner.host}", which cannot be reached; if it is gone: subcrew resume ${id} --force`
          : doingOf(state);
  const cost = state.usage.turns === 0 ? "" : formatCost(state.cost);
  return {
    id,
    status: life,
    name: describe(state),
    prompt: promptOf(state),
    cwd: state.cwd,
    background,
    ...defined({ host: owner?.host, pidNamespace: owner?.pidNamespace }),
    ageMs: state.startedAt === 0 ? 0 : now - state.startedAt,
    ...progressOf(state),
    doing,
    usd: state.cost.usd,
    cost,
  };
}

const HEADINGS = {
  id: "RUN",
  status: "STATE",
  age: "AGE",
  tasks: "TASKS",
  cost: "COST",
  project: "PROJECT",
  what: "WHAT",
} as const satisfies Readonly<Record<string, string>>;

function shown(row: Row, look: Look): Record<keyof typeof HEADINGS, string> {
  const { id, status, ageMs, cost, name, doing, background, cwd, done, total } = row;
  const more = settledWords(row).slice(1);
  return {
    id,
    status: background ? `${status} (bg)` : status,
    age: took(ageMs, look, "spaced"),
    tasks: [`${done}/${total}`, ...more].join(", "),
    cost,
    project: basename(cwd),
    what: [name, doing].filter((part) => part !== "").join(": "),
  };
}

/** The prompt of the first task. */
function promptOf({ plan }: State): string {
  const first = Object.values(plan?.nodes ?? {}).find((node) => node.kind === "task");
  return first?.kind === "task" ? first.task.prompt : "";
}

function isWanted(row: Row, text: string | undefined, { here, status }: Pick<Flags, "here" | "status">): boolean {
  if (here && row.cwd !== process.cwd()) return false;
  if (status && !status.includes(row.status)) return false;
  const wanted = text?.toLowerCase();
  return (
    wanted === undefined || [row.id, row.name, row.prompt, row.cwd].some((part) => part.toLowerCase().includes(wanted))
  );
}
