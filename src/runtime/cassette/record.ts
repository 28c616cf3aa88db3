import type { Model, ModelEvent } from "../../core/model/model.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { Runner } from "../../core/task/runner.ts";
import type { Tool } from "../../core/task/tool.ts";
import { inputSchemaOf } from "../../core/task/tool-specs.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import {
  ACCEPTANCE,
  askedIn,
  type Cassette,
  choiceOf,
  type Deck,
  type DeckMaker,
  peerKey,
  taskKey,
  wishKey,
} from "./cassette.ts";

/**
 * Records the traffic between tasks and their models and tools, without secrets, and returns it when the run has
 * ended. The traffic itself is not changed.
 */
export const recording =
  (save: (cassette: Cassette) => Promise<void>): DeckMaker =>
  ({ cwd, redactor }) => {
    const tape: Cassette = { version: 1, cwd, choices: [], turns: [], tools: [], peers: [] };
    const same = { cwd, redact: redactor.text };
    return {
      models: (source) => ({
        choose: async (...wished) => {
          const chosen = await source.choose(...wished);
          const key = wishKey(wished, same);
          if (!("misses" in chosen) && !tape.choices.some((choice) => choice.wished === key))
            tape.choices.push(choiceOf(key, chosen));
          return chosen;
        },
      }),
      runner: listening({
        turn: (task, request, events) => void tape.turns.push({ task, asked: askedIn(request, same), events }),
        tool: (task, tool, input, ended) => void tape.tools.push({ task, tool, input, ...ended }),
      }),
      peers: (real) => ({
        ...real,
        toolsFor: async (ask) => {
          const tools = await real.toolsFor(ask);
          const asked = peerKey(ask, same);
          if (tools.length > 0 && !tape.peers.some((peer) => peer.asked === asked))
            tape.peers.push({ asked, tools: tools.map(offeredOf) });
          return tools;
        },
      }),
      acceptance: (real) => async (outcome, assignment, context) => {
        const looked = await real(outcome, assignment, context);
        const { call } = assignment;
        if (outcome.status === "ok" && call.task.acceptCommand !== undefined)
          tape.tools.push({
            task: taskKey(call),
            tool: ACCEPTANCE,
            input: { command: call.task.acceptCommand, answer: outcome.output },
            ...(looked.status === "failed" ? { threw: looked.fault.message } : { result: "accepted" }),
          });
        return looked;
      },
      end: () => save(redactor.deep(tape)),
      drift: () => [],
    };
  };

/** The fields of an MCP tool that a replay needs. */
const offeredOf = (tool: Tool): Cassette["peers"][number]["tools"][number] => ({
  name: tool.name,
  description: tool.description,
  input: inputSchemaOf(tool),
  effect: tool.effect,
});

/** Writes a recording to a file. */
export const saveTo =
  (file: string) =>
  (cassette: Cassette): Promise<void> =>
    writeAtomic(file, `${JSON.stringify(cassette, null, 1)}\n`);

type Notes = Readonly<{
  turn(task: string, request: Parameters<Model>[0], events: ModelEvent[]): void;
  tool(
    task: string,
    tool: string,
    input: unknown,
    ended: Readonly<Pick<Cassette["tools"][number], "result" | "threw">>,
  ): void;
}>;

function listening({ turn, tool }: Notes): Deck["runner"] {
  return (inner: Runner): Runner =>
    (assignment, context) => {
      const task = taskKey(assignment.call);
      const model: Model = async function* (request, signal) {
        const events: ModelEvent[] = [];
        turn(task, request, events);
        for await (const event of assignment.model.model(request, signal)) {
          events.push(event);
          yield event;
        }
      };
      const heard = (one: Tool): Tool => ({
        ...one,
        run: async (input, toolContext) => {
          try {
            const result = await one.run(input, toolContext);
            tool(task, one.name, input, { result });
            return result;
          } catch (thrown) {
            tool(task, one.name, input, { threw: messageOf(thrown) });
            throw thrown;
          }
        },
      });
      const tools = new Map([...assignment.tools].map(([name, one]) => [name, heard(one)]));
      // Tasks in other processes cannot be recorded.
      return inner({ ...assignment, runner: "local", model: { ...assignment.model, model }, tools }, context);
    };
}
