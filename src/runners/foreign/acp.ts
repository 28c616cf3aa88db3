import { basename } from "node:path";
import { failed, type Outcome } from "../../core/outcome/outcome.ts";
import { messageOf } from "../../core/schema/error.ts";
import { passedEnv } from "../../core/secrets/pass-env.ts";
import type { Runner } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { reasonOf } from "../../runtime/async/cancel.ts";
import { onAbort } from "../../runtime/async/on-abort.ts";
import { type Child, startChild } from "../../runtime/commands/child.ts";
import { acpHost } from "./acp-host.ts";
import { type AcpSession, openAcp, type SessionUpdate } from "./acp-sdk.ts";
import { findProgram } from "./find-program.ts";
import { type ForeignParts, type ForeignHandover, handOver, outcomeOf, writtenBy } from "./hand-over.ts";
import { exited, outOfTime, ProgramWatch, taskMarker, timeOf } from "./program-watch.ts";
import { field, listIn, numberIn, type ToolListener, textIn, together } from "./tool.ts";
import { ownEntry } from "../../core/text/json.ts";

const GRACE_MS = 1_500;

export type AcpParts = ForeignParts &
  Readonly<{
    /** The environment variables of a known program, which needs them although the user gives its command line. */
    variablesOf(program: string): Promise<readonly string[]>;
  }>;

/**
 * Runs each task in a process that speaks the Agent Client Protocol; its permission requests are judged by the task's
 * own rules.
 */
export function acpRunner(command: string, parts: AcpParts): Runner {
  const keeps = { without: "asks", patterns: [], places: false, sandbox: false } as const;
  const [program = "", ...args] = splitCommandLine(command);
  const called = basename(program);
  return handOver(called, { keeps }, async (task) => {
    const { toolContext } = task.assignment;
    const file = findProgram(program, parts.env["PATH"], writtenBy(task.assignment));
    if (file === undefined)
      return failed("UNSUPPORTED", `"${program}" was not found, so the ACP agent cannot start.`, {
        hint: "Name a program in PATH or its absolute path, outside of the working folder.",
      });
    const marker = taskMarker();
    const [name = "", value = ""] = marker.split("=");
    const child = startChild({
      file,
      args,
      cwd: toolContext.cwd,
      env: { ...passedEnv(parts.env, [...parts.passEnv, ...(await parts.variablesOf(called))]), [name]: value },
      marker,
      talks: true,
    });
    const outcome = await talkWith({ child, called, marker }, task);
    parts.linger(child.kill(GRACE_MS));
    return outcome;
  });
}

async function talkWith(
  { child, called, marker }: Readonly<{ child: Child; called: string; marker: string }>,
  task: ForeignHandover,
): Promise<Outcome> {
  const { limits } = task.assignment;
  const watch = new ProgramWatch(called, task, marker);
  const { tally } = watch;
  const timer = setTimeout(() => watch.stop(outOfTime(called, limits)), timeOf(limits));
  const reader = readerOf(tally);
  let talk: AcpSession | undefined;
  const converse = async (): Promise<Outcome | undefined> => {
    if (!child.pipes) return undefined;
    talk = await openAcp(child.pipes, task.asked.cwd, { ...acpHost(task), heard: reader.take });
    const { stopReason } = await talk.prompt(together(task.asked));
    return ownEntry(STOPS, stopReason)?.(called);
  };
  const gone = child.ended.then((exit) => exited(called, exit, child.output.text()));
  const talked = converse().catch((error: unknown): Promise<Outcome> | Outcome =>
    // A broken connection usually means that the program has exited.
    Promise.race([
      gone,
      failedAfter(500, () => failed("CRASHED", `${called} failed: ${messageOf(error)}`, { retryable: true })),
    ]),
  );
  const end = await Promise.race([talked, gone, abortOf(watch.signal)]);
  clearTimeout(timer);
  watch.close();
  if (watch.signal.aborted) talk?.cancel();
  talk?.close();
  reader.end();
  tally.close();
  return outcomeOf(task, tally, watch.fault ?? end ?? tally.fault());
}

const failedAfter = (ms: number, outcome: () => Outcome): Promise<Outcome> =>
  new Promise((resolve) => setTimeout(() => resolve(outcome()), ms));

function abortOf(signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (): void => resolve({ status: "cancelled", reason: reasonOf(signal) });
    if (signal.aborted) settle();
    else onAbort(signal, settle);
  });
}

/** Faults for the reasons for which an agent stopped; a reason that is not listed is a normal end. */
const STOPS: Readonly<Record<string, (called: string) => Outcome>> = {
  max_turn_requests: (called) => failed("MAX_TURNS", `${called} stopped at its own limit of turns.`),
  refusal: (called) => failed("MODEL_REFUSED", `${called} refused the task.`),
  cancelled: () => ({ status: "cancelled", reason: "the agent stopped" }),
};

/** Reads the updates of an agent. The protocol has no turns, so text after a tool result begins a new turn. */
function readerOf(heard: ToolListener): Readonly<{ take(update: SessionUpdate): void; end(): void }> {
  let answered = false;
  let spoke = false;
  let spent: Readonly<{ contextTokens: number; usd: number | undefined }> | undefined;
  let told = 0;
  /** The reported cost is the total so far. */
  const end = (): void => {
    if (spoke) {
      const usd = spent?.usd === undefined ? undefined : Math.max(0, spent.usd - told);
      heard.turnEnded({ usage: { contextTokens: spent?.contextTokens ?? 0 }, ...defined({ usd }) });
      told += usd ?? 0;
    }
    spoke = false;
    answered = false;
  };
  const settle = (update: unknown): void => {
    const status = textIn(update, "status");
    if (status !== "completed" && status !== "failed") return;
    answered = true;
    const parts = listIn(update, "content").map((part) => textIn(part, "content", "text") || textIn(part, "path"));
    const text = parts.filter((part) => part !== "").join("\n");
    heard.result(textIn(update, "toolCallId"), { text, error: status === "failed" });
  };
  const speak = (say: (text: string) => void, update: unknown): void => {
    if (answered) end();
    spoke = true;
    say(textIn(update, "content", "text"));
  };
  const updates: Readonly<Record<string, (update: unknown) => void>> = {
    agent_message_chunk: (update) => speak(heard.text, update),
    agent_thought_chunk: (update) => speak(heard.thinking, update),
    tool_call: (update) => {
      spoke = true;
      const input = field(update, "rawInput") ?? { title: textIn(update, "title") };
      heard.call({ id: textIn(update, "toolCallId"), name: textIn(update, "kind") || "other", input });
      settle(update);
    },
    tool_call_update: settle,
    usage_update: (update) => {
      const usd = field(update, "cost", "amount");
      spent = { contextTokens: numberIn(update, "used"), usd: typeof usd === "number" ? usd : undefined };
    },
  };
  return { take: (update) => ownEntry(updates, update.sessionUpdate)?.(update), end };
}

/** Splits a command line into words. Quotes keep spaces; no other character has a special meaning. */
export function splitCommandLine(command: string): string[] {
  return Array.from(
    command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
