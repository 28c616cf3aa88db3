import type { Model } from "../../core/model/model.ts";
import { failed } from "../../core/outcome/outcome.ts";
import { PEER_TOOL_MS, peerSubjects } from "../../core/task/mcp-tools.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import {
  ACCEPTANCE,
  CUT_OFF,
  askedIn,
  type Cassette,
  callKey,
  peerKey,
  type RecordedRequest,
  type Sameness,
  stable,
  taskKey,
  wishKey,
} from "./cassette.ts";
import { untilAborted } from "../async/on-abort.ts";
import type { Deck, DeckMaker } from "./deck.ts";
import type { ReplayTape } from "./tape.ts";

/**
 * Answers models and tools from a recording: needs no key and has no effect. A request that was not recorded is called
 * drift: it is reported, and the task fails. After `until` turns, real models and tools are used.
 */
export const replaying =
  (cassette: Cassette, { until = Number.POSITIVE_INFINITY }: Readonly<{ until?: number }> = {}): DeckMaker =>
  ({ cwd, redactor }) => {
    const drift: string[] = [];
    const tape = tapeOf(cassette, { until, drifted: (text) => void drift.push(text) });
    return {
      ...replayingFrom(tape, { cwd, redact: redactor.text }),
      tape: { kind: "replays", tape, isWhole: until === Number.POSITIVE_INFINITY },
      end: () => Promise.resolve(),
      drift: () => [...new Set(drift)],
    };
  };

/** The entries of a recording as a tape: it returns them in their order. */
function tapeOf(
  cassette: Cassette,
  { until, drifted }: Readonly<{ until: number; drifted(text: string): void }>,
): ReplayTape {
  const recorded: Sameness = { cwd: cassette.cwd, redact: (text) => text };
  const turns = inOrder(cassette.turns, ({ task }) => task);
  const calls = inOrder(cassette.tools, ({ task, tool, input }) => callKey(task, tool, input, recorded));
  let played = 0;
  const live = (): boolean => played >= until;
  const missing = (text: string): { drift: string } => {
    drifted(text);
    return { drift: text };
  };
  return {
    choice: async (wished, inWords) => {
      const known = cassette.choices.find((choice) => choice.wished === wished);
      if (!known) drifted(`the recording has no answers of the chosen model: ${inWords}`);
      return known ?? cassette.choices[0];
    },
    turn: async (task, asked) => {
      if (live()) return { live: true };
      played += 1;
      const turn = turns(task);
      const path = task.replace(/#1$/, "");
      if (!turn)
        return missing(
          `"${path}" asked its model for one more turn than was recorded, after: ${asked.at(-1)?.begins ?? ""}`,
        );
      const problem = difference(turn.asked, asked);
      return problem === undefined
        ? { found: turn.events }
        : missing(`"${path}" sent its model a different request: ${problem}`);
    },
    tool: async (key, text) => {
      if (live()) return { live: true };
      const call = calls(key);
      return call ? { found: defined({ result: call.result, threw: call.threw }) } : missing(text);
    },
    peer: async (asked) =>
      live() ? { live: true } : { found: cassette.peers.find((peer) => peer.asked === asked)?.tools ?? [] },
  };
}

/** Answers the model and tool calls of tasks from a recording (`tape`). */
export function replayingFrom(
  tape: ReplayTape,
  same: Sameness,
): Pick<Deck, "models" | "runner" | "peers" | "acceptance"> {
  const modelFor = (task: string, real: Model, note: (text: string) => void): Model =>
    async function* (request, signal) {
      const turn = await tape.turn(task, askedIn(request, same));
      if ("live" in turn) return yield* real(request, signal);
      if ("found" in turn) return yield* turn.found;
      note(turn.drift);
      yield {
        type: "error",
        fault: {
          code: "DRIFT",
          message: `The run differs from the recording: ${turn.drift}`,
          hint: "Record the run again with --record.",
          retryable: false,
        },
      };
    };
  const toolFor = (task: string, tool: Tool, note: (text: string) => void): Tool => ({
    ...tool,
    run: async (input, context) => {
      // Delegation tools run normally, since the agents that they start are replayed, too.
      if (tool.does === "spawn") return tool.run(input, context);
      const text = `"${task.replace(/#1$/, "")}" called ${tool.name} with ${stable(input).slice(0, 200)}`;
      const call = await tape.tool(callKey(task, tool.name, input, same), text);
      if ("live" in call) return tool.run(input, context);
      if ("found" in call) {
        if (call.found.result !== undefined) return call.found.result;
        throw new Error(call.found.threw);
      }
      note(call.drift);
      throw new Error("this call is not in the recording, so it was not run");
    },
  });
  return {
    models: (source) => choosing(source, tape, same),
    runner: (inner) => (assignment, context) => {
      const task = taskKey(assignment.call);
      const note = (text: string): void =>
        context.emit({ type: "warning", code: "DRIFT", text: `The run differs from the recording: ${text}` });
      const tools = new Map([...assignment.tools].map(([name, tool]) => [name, toolFor(task, tool, note)]));
      const model = { ...assignment.model, model: modelFor(task, assignment.model.model, note) };
      return inner({ ...assignment, runner: "local", model, tools }, context);
    },
    peers: (real) => ({
      ...real,
      toolsFor: async (ask) => {
        const offered = await tape.peer(peerKey(ask, same));
        if (!("found" in offered)) return real.toolsFor(ask);
        return offered.found.map((tool) => shown(tool, (signal) => real.toolsFor({ ...ask, signal: () => signal })));
      },
    }),
    acceptance: (real) => async (outcome, assignment, context) => {
      const { task, path } = assignment.call;
      if (outcome.status !== "ok" || task.acceptCommand === undefined) return real(outcome, assignment, context);
      const input = { command: task.acceptCommand, answer: outcome.output };
      const looked = await tape.tool(
        callKey(taskKey(assignment.call), ACCEPTANCE, input, same),
        `"${path}" used the acceptance command ${task.acceptCommand.slice(0, 200)}`,
      );
      if ("live" in looked) return real(outcome, assignment, context);
      if ("found" in looked && looked.found.result !== undefined) return outcome;
      if ("found" in looked && looked.found.threw === CUT_OFF) {
        await untilAborted(context.signal); // this task lost the race in the recording, so it waits until it loses again
        return outcome;
      }
      const said =
        ("found" in looked ? looked.found.threw : undefined) ??
        "The acceptance check of this task is not in the recording, so its command was not run.";
      return { ...outcome, ...failed("NOT_ACCEPTED", said) };
    },
  };
}

/**
 * A tool of an MCP server as it was recorded. The server starts only when the tool is called after the end of the
 * recording.
 */
function shown(
  offered: Cassette["peers"][number]["tools"][number],
  real: (signal: AbortSignal) => Promise<readonly Tool[]>,
): Tool {
  return {
    ...offered,
    subjects: peerSubjects,
    timeoutMs: PEER_TOOL_MS,
    run: async (input, context) => {
      const tool = (await real(context.signal)).find(({ name }) => name === offered.name);
      if (!tool) throw new Error("the server no longer offers this tool");
      return tool.run(input, context);
    },
  };
}

/** Returns a function that looks up the recorded entries of a key, one after the other. */
function inOrder<T>(all: readonly T[], kind: (one: T) => string): (key: string) => T | undefined {
  const waiting = new Map<string, T[]>();
  for (const one of all) waiting.set(kind(one), [...(waiting.get(kind(one)) ?? []), one]);
  return (key) => waiting.get(key)?.shift();
}

/** The first difference between a model request and the recorded request. */
function difference(recorded: RecordedRequest, now: RecordedRequest): string | undefined {
  const at = now.findIndex(({ hash }, index) => hash !== recorded[index]?.hash);
  if (at < 0 && now.length === recorded.length) return undefined;
  const what = at === 0 ? "the system prompt or its tools" : `message ${at < 0 ? now.length : at}`;
  const [was, is] = at < 0 ? [recorded[now.length]?.begins, undefined] : [recorded[at]?.begins, now[at]?.begins];
  return `${what} is now ${JSON.stringify(is ?? "missing")}, but was ${JSON.stringify(was ?? "missing")} in the recording`;
}

/** The recorded models; after the recording ends, the real models, if available. */
function choosing(source: ModelSource, tape: ReplayTape, same: Sameness): ModelSource {
  return {
    choose: async (...wished) => {
      const inWords = wished[0].map(({ names }) => [names].flat().join()).join(" or ") || "the default";
      const choice = await tape.choice(wishKey(wished, same), inWords);
      if (!choice) return source.choose(...wished);
      const real = await source.choose(...wished).catch(() => undefined); // the real model is not needed while recorded answers are replayed
      const { wished: _wished, contextWindow, ...named } = choice;
      const facts = { ...named, ...defined({ contextWindow }) };
      return !real || "misses" in real ? { ...facts, model: unavailable } : { ...real, ...facts };
    },
  };
}

const unavailable: Model = async function* () {
  yield {
    type: "error",
    fault: {
      code: "MODEL_AUTH",
      message: "The recording has ended, and the model that it names is not available here.",
      retryable: false,
    },
  };
};
