import type { IncomingMessage } from "node:http";
import { answer } from "../core/plan/gate.ts";
import { command, type Receipt } from "../core/run/run-command.ts";
import { parseAs } from "../core/schema/parse.ts";
import { defined } from "../core/text/defined.ts";
import { isRecord, parseJson } from "../core/text/json.ts";
import { rowActions } from "../core/view/row-actions.ts";
import { actOnRun } from "../crew/act-on-run.ts";
import { unchecked } from "../modes/compile.ts";
import { readJsonBody } from "../runtime/network/loopback-server.ts";
import type { Done } from "./client/wire.ts";
import { badInput } from "./responses.ts";
import { crewIn, rowFor, type WebContext } from "./routes.ts";
import { planPreview, startRequestOf } from "./start.ts";

/** Handles a POST, which only a browser with the role `full` may send. */
type Change = (context: WebContext, body: Readonly<Record<string, unknown>>) => Promise<unknown>;

export const changes: Readonly<Record<string, Change>> = {
  plan: async (context, body) => {
    const request = startRequestOf(body, context.crew.cwd);
    return planPreview(await crewIn(context, request.cwd), request);
  },
  start: async (context, body): Promise<Done> => {
    const request = startRequestOf(body, context.crew.cwd);
    const crew = await crewIn(context, request.cwd);
    const unattended = request.options["unattended"] === true;
    const options = { parkByDefault: true, asksCalls: !unattended, unattended, ...request.options };
    const { id } = await crew.background(unchecked(request.input), options);
    return { done: true, text: `Started ${id}.`, run: id };
  },
  /** Sends a command to a run, as JSON in the format of the run's command queue. */
  tell: async ({ crew }, body): Promise<Done> => {
    const run = await crew.findRun(textIn(body, "run")); // a command to an unknown run would create its folder
    const asked = parseAs(command, body["command"], { code: "BAD_INPUT", what: "command" });
    if (asked.do !== "answer" && asked.do !== "send")
      throw badInput(`"${asked.do}" cannot be done from the page.`, "Use the `subcrew` command in a terminal.");
    const handle = crew.open(run, { signal: AbortSignal.timeout(WAIT_MS) });
    if (asked.do === "send") return doneOf(await handle.send(asked.path, asked.text, asked.how));
    const given = parseAs(answer, { ...asked.answer, by: "the page" }, { code: "BAD_INPUT", what: "answer" });
    return doneOf(await handle.answer(asked.path, given, { question: asked.question, call: asked.call }));
  },
  /** Pauses, resumes, retries or cancels, like the keys of `subcrew top`. */
  act: async ({ crew, ownCommand }, body): Promise<Done> => {
    const row = await rowFor(crew, textIn(body, "run"), textIn(body, "path"));
    const does = textIn(body, "does");
    const action = rowActions(row).find((each) => each.does === does);
    if (!action?.words || does === "diff")
      throw badInput(`"${does}" is not possible for this task now.`, "Look at the state of the task and try again.");
    const receipt = await actOnRun(crew, action.words);
    return receipt ? doneOf(receipt) : ownDone(await ownCommand([...action.words, "--json"]));
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
const WAIT_MS = 11_000;

const doneOf = ({ state, text }: Receipt): Done => ({ done: state !== "refused", text });

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
    const { id, state, text, status, applied, conflicts, left } = value;
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
      done: state !== "refused",
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
