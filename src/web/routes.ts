import type { IncomingMessage } from "node:http";
import { CrewError } from "../core/schema/error.ts";
import { decimalIn } from "../core/schema/decimal.ts";
import { version } from "../core/text/version.ts";
import { commandFor, rowActions } from "../core/view/row-actions.ts";
import { runRow, type TopRow, treeRows } from "../core/view/run-rows.ts";
import type { Crew } from "../crew/crew-type.ts";
import { agentPage, agentRows, conversion, lintReport } from "./agents.ts";
import type { Hello, RowDetails } from "./client/wire.ts";
import { comparedSide } from "./compare.ts";
import type { CostReader } from "./cost.ts";
import type { Hub } from "./hub.ts";
import { badInput } from "./responses.ts";
import { callDetails, diffReport, logLines, taskDetails, transcriptPart } from "./run-details.ts";
import type { WebRole } from "./sessions.ts";
import { startOptions } from "./start.ts";

/** The parts that all routes of the web server use. */
export type WebContext = Readonly<{
  crew: Crew;
  hub: Hub;
  cost: CostReader;
  /** Creates a crew for another project folder. */
  crewAt(cwd: string): Promise<Crew>;
  ownCommand: OwnCommand;
}>;

/** Runs a subcrew command and returns its standard output, which is JSON. Throws the error that the command reports. */
export type OwnCommand = (words: readonly string[]) => Promise<string>;

export type WebQuery = Readonly<{
  get(name: string): string;
  request: IncomingMessage;
  role: WebRole;
}>;

/** Handles a GET; the result is sent as JSON. */
type Look = (context: WebContext, query: WebQuery) => Promise<unknown>;
/** Reads from the project of the page. A read-only link shows the server's own project and cannot choose a folder. */
function inProject(read: (crew: Crew, query: WebQuery, context: WebContext) => Promise<unknown>): Look {
  return async (context, query) => {
    const crew = await crewIn(context, (query.role === "full" && query.get("cwd")) || context.crew.cwd);
    return crew.masked(await read(crew, query, context));
  };
}

export const looks: Readonly<Record<string, Look>> = {
  hello: inProject(async ({ cwd }, { role }): Promise<Hello> => ({ role, version, cwd })),
  needs: async ({ hub }) => hub.list.needs(),
  runs: async ({ hub }, { get }) =>
    hub.list.older({ before: get("before") || undefined, text: get("text"), count: 50 }),
  transcript: async ({ hub }, { get }) => {
    const place = { run: get("run"), path: get("path"), before: countIn(get, "before") };
    return transcriptPart(await hub.events(place.run), place);
  },
  log: async ({ hub }, { get }) => {
    const before = countIn(get, "before") ?? 0;
    return logLines(await hub.events(get("run")), before);
  },
  task: async ({ crew, hub }, { get }) => taskDetails(crew, await hub.events(get("run")), get("path")),
  actions: async ({ crew }, { get }): Promise<RowDetails> => {
    const row = await rowFor(crew, get("run"), get("path"));
    return { actions: rowActions(row), command: commandFor(row) };
  },
  diff: async ({ crew }, { get }) => diffReport(crew, await crew.findRun(get("run")), get("path")),
  call: async ({ hub }, { get }) => callDetails(await hub.events(get("run")), get("call")) ?? null,
  compare: async ({ crew }, { get }) => Promise.all([comparedSide(crew, get("a")), comparedSide(crew, get("b"))]),
  cost: async ({ cost }, { get }) => cost(Math.min(365, Math.max(1, countIn(get, "days") ?? 30)), Date.now()),
  agents: inProject(agentRows),
  agent: inProject((crew, { get }) => agentPage(crew, get("name"))),
  lint: inProject(lintReport),
  convert: inProject((crew, { get }) => conversion(crew, get("name"), get("to"))),
  start: inProject((crew, _, { hub }) =>
    startOptions(crew, [...new Set(hub.list.snapshot().runs.map(({ project }) => project))]),
  ),
};

/** A number of a query; `undefined` if it is not given. */
function countIn(get: WebQuery["get"], name: string): number | undefined {
  const text = get(name);
  if (text === "") return undefined;
  const count = decimalIn(text);
  if (count === undefined || !Number.isInteger(count))
    throw badInput(`"${name}" is not a whole number: "${text.slice(0, 40)}".`, "Load the page again.");
  return count;
}

/** The crew for a folder; for the server's own folder, the crew of the server. */
export const crewIn = async ({ crew, crewAt }: WebContext, cwd: string): Promise<Crew> =>
  cwd === crew.cwd ? crew : crewAt(cwd);

export async function rowFor(crew: Crew, id: string, path: string): Promise<TopRow> {
  const run = await crew.kept.look(await crew.findRun(id));
  const row = path === "" ? runRow(run) : treeRows(run).find((each) => each.path === path);
  if (row) return row;
  throw new CrewError("UNKNOWN_RUN", `"${id}" has no task "${path}".`, "Choose one of its tasks.");
}
