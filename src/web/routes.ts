import type { IncomingMessage } from "node:http";
import { answer } from "../core/plan/gate.ts";
import { command } from "../core/run/run-command.ts";
import { CrewError } from "../core/schema/error.ts";
import { decimalIn } from "../core/schema/decimal.ts";
import { parseAs } from "../core/schema/parse.ts";
import { defined } from "../core/text/defined.ts";
import { isRecord, parseJson } from "../core/text/json.ts";
import { version } from "../core/text/version.ts";
import { commandFor, rowActions } from "../core/view/row-actions.ts";
import { runRow, type TopRow, treeRows } from "../core/view/run-rows.ts";
import type { Crew } from "../crew.ts";
import { unchecked } from "../modes/compile.ts";
import { readJsonBody } from "../runtime/network/loopback-server.ts";
import { agentPage, agentRows, conversion, lintReport } from "./agents.ts";
import type { Done, Hello, RowDetails } from "./client/wire.ts";
import { comparedSide } from "./compare.ts";
import type { CostReader } from "./cost.ts";
import type { Hub } from "./hub.ts";
import { badInput } from "./responses.ts";
import { callDetails, diffReport, logLines, taskDetails, transcriptPart } from "./run-details.ts";
import type { WebRole } from "./sessions.ts";
import { planPreview, startOptions, startRequestOf } from "./start.ts";

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
/** Handles a POST, which only a browser with the role `full` may send. */
type Change = (context: WebContext, body: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Reads from the project of the page. A read-only link shows the server's own project and cannot choose a folder. */
function inProject(read: (crew: Crew, query: WebQuery, context: WebContext) => Promise<unknown>): Look {
  return async (context, query) => {
    const crew = await crewFor(context, (query.role === "full" && query.get("cwd")) || context.crew.cwd);
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

export const changes: Readonly<Record<string, Change>> = {
  plan: async (context, body) => {
    const request = startRequestOf(body, context.crew.cwd);
    return planPreview(await crewFor(context, request.cwd), request);
  },
  start: async (context, body): Promise<Done> => {
    const request = startRequestOf(body, context.crew.cwd);
    const crew = await crewFor(context, request.cwd);
    const unattended = request.options["unattended"] === true;
    const options = { parkByDefault: true, asksCalls: !unattended, unattended, ...request.options };
    const { id } = await crew.background(unchecked(request.input), options);
    return { done: true, text: `Started ${id}.`, run: id };
  },
  /** Sends a command to a run, as JSON in the format of the run's command queue. */
  tell: async ({ crew }, body): Promise<Done> => {
    const run = await crew.findRun(textIn(body, "run")); // a command to an unknown run would create its folder
    const asked = parseAs(command, body["command"], { code: "BAD_INPUT", what: "command" });
    if (asked.do === "kill" || asked.do === "change")
      throw badInput(
        `"${asked.do}" cannot be done from the page.`,
        "Use `subcrew kill` or `subcrew grow` in a terminal.",
      );
    const owned = (await crew.kept.owner(run)) !== undefined;
    const named =
      asked.do === "answer"
        ? {
            ...asked,
            answer: parseAs(answer, { ...asked.answer, by: "the page" }, { code: "BAD_INPUT", what: "answer" }),
          }
        : asked.do === "send"
          ? { ...asked, from: "the user" }
          : asked;
    const receipt = await crew.kept.tell(run, named, {
      waitMs: owned ? WAIT_MS : 0,
      signal: AbortSignal.timeout(WAIT_MS + 1_000),
    });
    return {
      done: receipt?.done ?? !owned,
      text:
        receipt?.text ??
        (owned
          ? "The run has not confirmed the command yet; reload the page to see whether it took effect."
          : `The command is kept until the run is resumed: subcrew resume ${run}`),
    };
  },
  /** Pauses, resumes, retries or cancels, like the keys of `subcrew top`. */
  act: async ({ crew, ownCommand }, body): Promise<Done> => {
    const row = await rowFor(crew, textIn(body, "run"), textIn(body, "path"));
    const does = textIn(body, "does");
    const action = rowActions(row).find((each) => each.does === does);
    if (!action?.words || does === "diff")
      throw badInput(`"${does}" is not possible for this task now.`, "Look at the state of the task and try again.");
    return ownDone(await ownCommand([...action.words, "--json"]));
  },
  continue: async ({ crew, ownCommand }, body): Promise<Done> => {
    const row = await rowFor(crew, textIn(body, "run"), textIn(body, "path"));
    const message = textIn(body, "message").trim();
    if (message === "" || message === "-")
      throw badInput("The message is empty.", "Write what the task should do next.");
    const failed = row.node?.status === "failed" || row.run.life === "failed" ? ["--allow-failed"] : [];
    return ownDone(await ownCommand(["resume", "--bg", "--json", ...failed, "--", row.key, message]));
  },
  apply: async ({ crew, ownCommand }, body): Promise<Done> => {
    const row = await rowFor(crew, textIn(body, "run"), textIn(body, "path"));
    return ownDone(await ownCommand(["apply", "--json", "--", row.key]));
  },
};

/** The time limit for the run's process to reply. */
const WAIT_MS = 10_000;

/** The crew for a folder; for the server's own folder, the crew of the server. */
const crewFor = async ({ crew, crewAt }: WebContext, cwd: string): Promise<Crew> =>
  cwd === crew.cwd ? crew : crewAt(cwd);

async function rowFor(crew: Crew, id: string, path: string): Promise<TopRow> {
  const run = await crew.kept.look(await crew.findRun(id));
  const row = path === "" ? runRow(run) : treeRows(run).find((each) => each.path === path);
  if (row) return row;
  throw new CrewError("UNKNOWN_RUN", `"${id}" has no task "${path}".`, "Choose one of its tasks.");
}

function textIn(body: Readonly<Record<string, unknown>>, key: string): string {
  const value = body[key];
  if (typeof value === "string") return value;
  throw badInput(`"${key}" is missing.`, "Reload the page and try again.");
}

/** The result of a subcrew command as one sentence. */
function ownDone(printed: string): Done {
  const lines = printed.trim().split("\n");
  for (const line of lines.toReversed()) {
    const value = parsed(line);
    if (!isRecord(value)) continue;
    const { id, done, text, ended, status, applied, conflicts, left } = value;
    if (Array.isArray(applied)) {
      const open = Array.isArray(conflicts) ? conflicts.length : 0;
      const unasked = isRecord(left) ? Object.keys(left).length : 0;
      const rest = [
        ...(open > 0 ? [`${open} in conflict`] : []),
        ...(unasked > 0 ? [`${unasked} protected and left out`] : []),
      ];
      return {
        done: rest.length === 0,
        text: `${[`${applied.length} applied`, ...rest].join(", ")}${rest.length > 0 ? ": see `subcrew apply`" : ""}.`,
      };
    }
    const words = typeof text === "string" ? text : typeof status === "string" ? `The run is ${status}.` : "Done.";
    return {
      done: done !== false && ended !== false,
      text: words,
      ...defined({ run: typeof id === "string" ? id : undefined }),
    };
  }
  return { done: true, text: lines.at(-1) || "Done." };
}

function parsed(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** The JSON object in the body of a POST. */
export async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const text = await readJsonBody(request);
  const value = parsed(text);
  if (isRecord(value)) return value;
  throw badInput("The request is not a JSON object.", "Reload the page and try again.");
}
