import { addCost, addUsage, type Cost, noCost, noUsage, type Usage } from "../core/outcome/usage.ts";
import type { AnyInput } from "../core/plan/input.ts";
import type { Plan } from "../core/plan/plan.ts";
import { messageOf } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import type { AttachedImage } from "../core/vocabulary/image.ts";
import { unchecked } from "../modes/compile.ts";
import type { RunOptions } from "./prepare/run-options.ts";
import type { Crew } from "./crew-type.ts";
import { newsOf } from "../runtime/execute/background-helpers.ts";
import { delegatedOf } from "../runtime/run/detached-helpers.ts";
import type { Run } from "../runtime/run/run.ts";

/** The agent of a conversation, and the options for its runs. */
export type ConversationOptions = Readonly<{
  crew: Crew;
  options: RunOptions;
  /** The id of the first run, if it has to be known in advance. */
  id?: string;
  /** The model that the person chose. If the person chose none, a continued conversation keeps its model. */
  model?: string | readonly string[] | undefined;
  /** The input of the first run: its task, with the options from the command-line flags. */
  opening(text: string): Promise<AnyInput>;
}>;

/** A conversation with a main agent: each message is a run that continues the previous one, so everything is stored. */
export type ChatConversation = Readonly<{
  /** Sends a message. Returns the run inside an object, because awaiting a run itself would wait for its end. */
  say(text: string, images?: readonly AttachedImage[]): Promise<Readonly<{ run: Run }>>;
  /** To be called when a run has ended or was stopped: adds its cost to the cost of the conversation. */
  ended(run: Run): void;
  /** Continues an answer that was stopped, including its subagents; `undefined`: no answer was stopped. */
  goOn(): Readonly<{ run: Run }> | undefined;
  /** Starts a new conversation that begins with a summary of this one. */
  compactTo(summary: string): void;
  /** The runs of this conversation that this process has shown, the oldest first. */
  runs(): readonly Run[];
  /** Lets the next message continue a task of another run, or with `undefined` start a new conversation. */
  moveTo(run: string | undefined): void;
  /** The id of the run that the next message continues. */
  last(): string | undefined;
  /** Sets the model from the next message on. */
  setModel(model: string): void;
  model(): string | readonly string[] | undefined;
  spent(): Readonly<{ usage: Usage; cost: Cost; messages: number }>;
}>;

export function createConversation({
  crew,
  options,
  id,
  model: chosen,
  opening,
}: ConversationOptions): ChatConversation {
  let last: string | undefined;
  let model = chosen;
  let stopped: string | undefined;
  let summary: string | undefined;
  let shown: Run[] = [];
  let spent = { usage: noUsage(), cost: noCost(), messages: 0 };
  const withModel = <T extends object>(task: T): T => (model === undefined ? task : { ...task, model });
  /** Cancels an answer that was stopped, permanently, when the person sends another message. */
  const endStopped = async (): Promise<void> => {
    if (stopped === undefined) return;
    const ending = crew.resume(stopped);
    ending.cancel("another message was sent");
    await ending;
    stopped = undefined;
  };
  const opened = (text: string): string =>
    summary === undefined ? text : `Summary of the conversation so far:\n\n${summary}\n\n${text}`;
  /** Results of background subagents that ended since the last message. */
  const results: Promise<string>[] = [];
  const resultOf = async (run: Run): Promise<string> => {
    const { output } = run.state.plan ?? { output: "" };
    const file = await crew.outputFile(run.id, output).catch(() => undefined);
    return newsOf(delegatedOf(await run), { run: run.id, files: file === undefined ? {} : { [output]: file } });
  };
  const own: RunOptions = {
    ...options,
    ...(options.outliving && {
      outliving: {
        ended: (run) => {
          results.push(resultOf(run).catch(messageOf));
          options.outliving?.ended?.(run);
        },
      },
    }),
  };
  const withResults = async (text: string): Promise<string> =>
    [...(await Promise.all(results.splice(0))).map((result) => `[Ended in the background] ${result}`), text].join(
      "\n\n",
    );
  return {
    say: async (said, images = []) => {
      await endStopped();
      const text = await withResults(said);
      const shown = images.length === 0 ? {} : { images };
      if (last === undefined) {
        const first = withModel({ ...(await opening(opened(text))), ...shown });
        return { run: crew.run(unchecked(first), { ...own, ...defined({ id }) }) };
      }
      const { plan, continues } = await crew.continuing({ run: last, prompt: text, allowFailed: true, ...NO_END });
      return {
        run: crew.run(
          tasksWith(plan, (task) => withModel({ ...task, ...shown })),
          { ...own, continues },
        ),
      };
    },
    ended: (run) => {
      const { id, state } = run;
      if (state.nodes.size > 0) last = id; // an answer that never started cannot be continued
      stopped = state.status === "paused" ? id : undefined;
      summary = undefined;
      shown = [...shown.filter((each) => each.id !== id), run];
      spent = {
        usage: addUsage(spent.usage, state.usage),
        cost: addCost(spent.cost, state.cost),
        messages: spent.messages + 1,
      };
    },
    goOn: () => (stopped === undefined ? undefined : { run: crew.resume(stopped, own) }),
    compactTo: (text) => {
      last = stopped = undefined;
      summary = text;
    },
    runs: () => shown,
    moveTo: (run) => {
      last = run;
      stopped = summary = undefined;
      shown = [];
    },
    last: () => last,
    setModel: (name) => {
      model = name;
    },
    model: () => model,
    spent: () => spent,
  };
}

/** No limits on how often and how late a task may be continued, because a person who chats is not limited. */
const NO_END = { maxContinuations: Number.MAX_SAFE_INTEGER, expiresAfterDays: Number.MAX_SAFE_INTEGER };

function tasksWith(plan: Plan, change: <T extends object>(task: T) => T): Plan {
  const nodes = Object.entries(plan.nodes).map(([id, node]) => [
    id,
    node.kind === "task" ? { ...node, task: change(node.task) } : node,
  ]);
  return { ...plan, nodes: Object.fromEntries(nodes) };
}
