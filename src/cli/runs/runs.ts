import { Option } from "commander";
import { formatCost } from "../../core/outcome/usage.ts";
import type { State } from "../../core/run/state.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Look } from "../../core/view/look.ts";
import { took } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { searchRows } from "../base/search.ts";
import { colorOption, count, jsonOption } from "../base/flags.ts";

const DEFAULT_LIMIT = 20;

/** The command `subcrew runs`. */
export const runs: CliCommand = {
  description: "Lists stored runs, newest first. Words filter by id, name, state and task.",
  words: "[words...]",
  usage: "[WORDS]",
  options: [
    new Option("--limit <n>", `how many to list (default: ${DEFAULT_LIMIT})`).argParser(count("--limit")),
    new Option("--all", "list all of them").conflicts("limit"),
    jsonOption(),
    colorOption(),
  ],
  examples: [
    ["subcrew runs --limit 5", "the last five"],
    ["subcrew runs failed", "runs that failed"],
  ],
  act: async (words, flags) => {
    const [{ crewFor }, { table }, { stdoutLook }] = await Promise.all([
      import("../launch/start.ts"),
      import("../base/table.ts"),
      import("../base/terminal.ts"),
    ]);
    const crew = await crewFor({});
    const look = stdoutLook(flags, crew.settings.config);
    const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? DEFAULT_LIMIT);
    const ids = (await crew.runs()).slice(0, words.length > 0 ? Number.POSITIVE_INFINITY : limit);
    const all = await Promise.all(ids.map(async (id) => rowFor(id, await crew.record(id).catch(() => undefined))));
    const rows = searchRows(all, words, ({ id, status, name, tasks }) => [id, status, name, ...tasks]).slice(0, limit);
    if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
    else if (rows.length === 0) process.stderr.write(words.length > 0 ? "No run matches.\n" : "No runs yet.\n");
    else
      process.stdout.write(
        table(
          rows.map((row) => shown(row, look)),
          look,
        ),
      );
    return 0;
  },
};

type Row = Readonly<{
  id: string;
  status: string;
  startedAt: number;
  ms: number;
  cost: string;
  name: string;
  tasks: readonly string[];
}>;

function rowFor(id: string, state: State | undefined): Row {
  if (!state || state.plan === undefined)
    return { id, status: "damaged", startedAt: 0, ms: 0, cost: "", name: "", tasks: [] };
  const tasks = Object.entries(state.plan.nodes).flatMap(([name, { kind }]) => (kind === "join" ? [] : [name]));
  const status = state.status === "running" ? "unfinished" : state.status;
  const ms = state.endedAt === undefined ? 0 : Math.max(0, state.endedAt - state.startedAt);
  return {
    id,
    status,
    startedAt: state.startedAt,
    ms,
    cost: state.usage.turns === 0 ? "" : formatCost(state.cost),
    name: state.name ?? "",
    tasks,
  };
}

function shown({ id, status, startedAt, ms, cost, name, tasks }: Row, look: Look): Record<string, string> {
  const what =
    name === "" ? `${tasks.slice(0, 4).join(", ")}${tasks.length > 4 ? ` and ${tasks.length - 4} more` : ""}` : name;
  const ago = startedAt === 0 ? "" : `${took(Date.now() - startedAt, look, "spaced")} ago`;
  return { id, status, ago, took: ms === 0 ? "" : took(ms, look), cost, what };
}
