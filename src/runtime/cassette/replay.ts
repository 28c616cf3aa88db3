import type { Model, ModelRequest } from "../../core/model/model.ts";
import { failed } from "../../core/outcome/outcome.ts";
import { PEER_TOOL_MS, peerSubjects } from "../../core/task/mcp-tools.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import {
  ACCEPTANCE,
  askedIn,
  type Cassette,
  callKey,
  type DeckMaker,
  peerKey,
  type RecordedRequest,
  type Sameness,
  stable,
  taskKey,
  wishKey,
} from "./cassette.ts";

/**
 * Answers models and tools from a recording: needs no key and has no effect. A request that was not recorded
 * is drift: it is reported, and the task fails. After `until` turns, real models and tools are used.
 */
export const replaying =
  (cassette: Cassette, { until = Number.POSITIVE_INFINITY }: Readonly<{ until?: number }> = {}): DeckMaker =>
  ({ cwd, redactor }) => {
    const same: Sameness = { cwd, redact: redactor.text };
    const recorded: Sameness = { cwd: cassette.cwd, redact: (text) => text };
    const turns = inOrder(cassette.turns, ({ task }) => task);
    const calls = inOrder(cassette.tools, ({ task, tool, input }) => callKey(task, tool, input, recorded));
    const drift: string[] = [];
    let played = 0;
    const live = (): boolean => played >= until;

    const turnOf = (task: string, request: ModelRequest): Cassette["turns"][number] | string => {
      const turn = turns(task);
      const path = task.replace(/#1$/, "");
      if (!turn)
        return `"${path}" asked its model for one more turn than was recorded, after: ${askedIn(request, same).at(-1)?.begins ?? ""}`;
      const problem = difference(turn.asked, askedIn(request, same));
      return problem === undefined ? turn : `"${path}" sent its model a different request: ${problem}`;
    };
    const modelFor = (task: string, real: Model, note: (text: string) => void): Model =>
      async function* (request, signal) {
        if (live()) return yield* real(request, signal);
        played += 1;
        const turn = turnOf(task, request);
        if (typeof turn !== "string") return yield* turn.events;
        note(turn);
        yield {
          type: "error",
          fault: {
            code: "DRIFT",
            message: `Not in the recording: ${turn}`,
            hint: "Record it again with --record.",
            retryable: false,
          },
        };
      };
    const toolFor = (task: string, tool: Tool, note: (text: string) => void): Tool => ({
      ...tool,
      run: (input, context) => {
        // Delegation tools run normally, since their helpers are replayed, too.
        if (live() || tool.does === "spawn") return tool.run(input, context);
        const call = calls(callKey(task, tool.name, input, same));
        if (call?.result !== undefined) return call.result;
        if (call) throw new Error(call.threw);
        note(`"${task.replace(/#1$/, "")}" called ${tool.name} with ${stable(input).slice(0, 200)}`);
        throw new Error("this call is not in the recording, so it was not run");
      },
    });
    return {
      models: (source) => choosing(source, { cassette, same, drifted: (text) => void drift.push(text) }),
      runner: (inner) => (assignment, context) => {
        const task = taskKey(assignment.call);
        const note = (text: string): void => {
          drift.push(text);
          context.emit({ type: "warning", code: "DRIFT", text: `Not in the recording: ${text}` });
        };
        const tools = new Map([...assignment.tools].map(([name, tool]) => [name, toolFor(task, tool, note)]));
        const model = { ...assignment.model, model: modelFor(task, assignment.model.model, note) };
        return inner({ ...assignment, runner: "local", model, tools }, context);
      },
      peers: (real) => ({
        ...real,
        toolsFor: async (ask) => {
          if (live()) return real.toolsFor(ask);
          const asked = peerKey(ask, same);
          const offered = cassette.peers.find((peer) => peer.asked === asked)?.tools ?? [];
          return offered.map((tool) => shown(tool, (signal) => real.toolsFor({ ...ask, signal })));
        },
      }),
      acceptance: (real) => async (outcome, assignment, context) => {
        const { task } = assignment.call;
        if (live() || outcome.status !== "ok" || task.acceptCommand === undefined)
          return real(outcome, assignment, context);
        const input = { command: task.acceptCommand, answer: outcome.output };
        const looked = calls(callKey(taskKey(assignment.call), ACCEPTANCE, input, same));
        if (looked?.result !== undefined) return outcome;
        if (!looked)
          drift.push(`"${assignment.call.path}" used the acceptance command ${task.acceptCommand.slice(0, 200)}`);
        const said = looked?.threw ?? "Its acceptance is not in the recording, and the command was not run.";
        return { ...outcome, ...failed("NOT_ACCEPTED", said) };
      },
      end: () => Promise.resolve(),
      drift: () => [...new Set(drift)],
    };
  };

/** A tool of an MCP server as it was recorded. The server starts only when the tool is called after the end of the recording. */
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
      if (!tool) throw new Error("the server no longer offers it");
      return tool.run(input, context);
    },
  };
}

/** Returns recorded entries in order, per key. */
function inOrder<T>(all: readonly T[], kind: (one: T) => string): (key: string) => T | undefined {
  const waiting = new Map<string, T[]>();
  for (const one of all) waiting.set(kind(one), [...(waiting.get(kind(one)) ?? []), one]);
  return (key) => waiting.get(key)?.shift();
}

/** The first difference between a request and the recording. */
function difference(recorded: RecordedRequest, now: RecordedRequest): string | undefined {
  const at = now.findIndex(({ hash }, index) => hash !== recorded[index]?.hash);
  if (at < 0 && now.length === recorded.length) return undefined;
  const what = at === 0 ? "the system prompt or its tools" : `message ${at < 0 ? now.length : at}`;
  const [was, is] = at < 0 ? [recorded[now.length]?.begins, undefined] : [recorded[at]?.begins, now[at]?.begins];
  return `${what} is ${JSON.stringify(is ?? "not there")}, and was ${JSON.stringify(was ?? "not there")}`;
}

/** The recorded models, and the real ones, if available, for the time after the recording. */
function choosing(
  source: ModelSource,
  {
    cassette: { choices },
    same,
    drifted,
  }: Readonly<{ cassette: Cassette; same: Sameness; drifted(text: string): void }>,
): ModelSource {
  return {
    choose: async (...wished) => {
      const key = wishKey(wished, same);
      const known = choices.find((choice) => choice.wished === key);
      if (!known)
        drifted(
          `a model was requested that was not recorded: ${wished[0].map(({ names }) => [names].flat().join()).join(" or ") || "the default"}`,
        );
      const choice = known ?? choices[0];
      const real = await source.choose(...wished);
      if (!choice) return real;
      const { wished: _wished, contextWindow, ...named } = choice;
      const facts = { ...named, ...defined({ contextWindow }) };
      return "misses" in real ? { ...facts, model: unavailable } : { ...real, ...facts };
    },
  };
}

const unavailable: Model = async function* () {
  yield {
    type: "error",
    fault: {
      code: "MODEL_AUTH",
      message: "The recording has ended, and its model is not available here.",
      retryable: false,
    },
  };
};
