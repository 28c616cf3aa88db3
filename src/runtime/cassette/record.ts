import type { Model, ModelEvent } from "../../core/model/model.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { Runner } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { inputSchemaOf } from "../../core/task/tool-specs.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { onAbort } from "../async/on-abort.ts";
import {
  ACCEPTANCE,
  askedIn,
  CUT_OFF,
  type Cassette,
  choiceOf,
  peerKey,
  type Sameness,
  taskKey,
  wishKey,
} from "./cassette.ts";
import type { Deck, DeckMaker } from "./deck.ts";
import type { RecordTape } from "./tape.ts";

/**
 * Records the model and tool calls of tasks, without secrets, and returns the recording when the run has ended. The
 * calls themselves are not changed.
 */
export const recording =
  (save: (cassette: Cassette) => Promise<void>): DeckMaker =>
  ({ cwd, redactor }) => {
    const kept: Cassette = { version: 1, cwd, choices: [], turns: [], tools: [], peers: [] };
    const tape: RecordTape = {
      choice: async (choice) => {
        if (!kept.choices.some(({ wished }) => wished === choice.wished)) kept.choices.push(choice);
      },
      turn: async (task, asked, events) => ({ at: kept.turns.push({ task, asked, events }) - 1 }),
      heard: async (at, events) => {
        const turn = kept.turns[at];
        if (turn) kept.turns[at] = { ...turn, events };
      },
      tool: async (call) => void kept.tools.push(call),
      peer: async (asked, tools) => {
        if (!kept.peers.some((peer) => peer.asked === asked)) kept.peers.push({ asked, tools: [...tools] });
      },
    };
    return {
      ...recordingOn(tape, { cwd, redact: redactor.text }),
      tape: { kind: "records", tape },
      end: () => save(redactor.deep(kept)),
      drift: () => [],
    };
  };

/** Writes the model and tool calls of tasks to a recording (`tape`). */
export function recordingOn(
  tape: RecordTape,
  same: Sameness,
): Pick<Deck, "models" | "runner" | "peers" | "acceptance"> {
  return {
    models: (source) => ({
      choose: async (...wished) => {
        const chosen = await source.choose(...wished);
        if (!("misses" in chosen)) await tape.choice(choiceOf(wishKey(wished, same), chosen));
        return chosen;
      },
    }),
    runner: listening({
      turn: async (task, request, events) => {
        const { at } = await tape.turn(task, askedIn(request, same), events);
        return () => tape.heard(at, events);
      },
      tool: (task, tool, input, ended) => tape.tool({ task, tool, input, ...ended }),
    }),
    peers: (real) => ({
      ...real,
      toolsFor: async (ask) => {
        const tools = await real.toolsFor(ask);
        if (tools.length > 0) await tape.peer(peerKey(ask, same), tools.map(offeredOf));
        return tools;
      },
    }),
    acceptance: (real) => async (outcome, assignment, context) => {
      const { call } = assignment;
      const { acceptCommand: command } = call.task;
      if (outcome.status !== "ok" || command === undefined) return real(outcome, assignment, context);
      const asked = { task: taskKey(call), tool: ACCEPTANCE, input: { command, answer: outcome.output } };
      // When another task wins the race, the run ends at once, so a command that is cut off must be in the recording
      // before it returns.
      const listening = onAbort(context.signal, () => void tape.tool({ ...asked, threw: CUT_OFF }));
      try {
        const looked = await real(outcome, assignment, context);
        if (!context.signal.aborted)
          await tape.tool({
            ...asked,
            ...(looked.status === "failed" ? { threw: looked.fault.message } : { result: "accepted" }),
          });
        return looked;
      } finally {
        listening();
      }
    },
  };
}

/** The fields of an MCP tool that are recorded for a replay. */
const offeredOf = (tool: Tool): Cassette["peers"][number]["tools"][number] => ({
  name: tool.name,
  description: tool.description,
  input: inputSchemaOf(tool),
  effect: tool.effect,
});

/** Creates a function that writes a recording to a file. */
export const saveTo =
  (file: string) =>
  (cassette: Cassette): Promise<void> =>
    writeAtomic(file, `${JSON.stringify(cassette, null, 1)}\n`);

type Notes = Readonly<{
  /** Records the start of a model turn; resolves with the function to call at its end. */
  turn(task: string, request: Parameters<Model>[0], events: ModelEvent[]): Promise<() => Promise<void>>;
  tool(
    task: string,
    tool: string,
    input: unknown,
    ended: Readonly<Pick<Cassette["tools"][number], "result" | "threw">>,
  ): Promise<void>;
}>;

function listening({ turn, tool }: Notes): Deck["runner"] {
  return (inner: Runner): Runner =>
    (assignment, context) => {
      const task = taskKey(assignment.call);
      const model: Model = async function* (request, signal) {
        const events: ModelEvent[] = [];
        const ended = await turn(task, request, events);
        try {
          for await (const event of assignment.model.model(request, signal)) {
            events.push(event);
            yield event;
          }
        } finally {
          await ended();
        }
      };
      const heard = (one: Tool): Tool => ({
        ...one,
        run: async (input, toolContext) => {
          try {
            const result = await one.run(input, toolContext);
            await tool(task, one.name, input, { result });
            return result;
          } catch (thrown) {
            await tool(task, one.name, input, { threw: messageOf(thrown) });
            throw thrown;
          }
        },
      });
      const tools = new Map([...assignment.tools].map(([name, one]) => [name, heard(one)]));
      // Tasks in other processes cannot be recorded, so the task runs in this one.
      return inner({ ...assignment, runner: "local", model: { ...assignment.model, model }, tools }, context);
    };
}
