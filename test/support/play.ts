import type { Answer } from "../../src/core/plan/gate.ts";
import { type CrewOptions, createCrew, defineAgent, type Event, type Outcome } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "./temp-folder.ts";

/** One call of a tool, as a turn of a scripted model. */
export const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });

/** The result of a run: its outcome, its events, and the result of each call that the model read. */
export type Played = Readonly<{
  outcome: Outcome | undefined;
  events: readonly Event[];
  /** The texts of refusals, by rule. */
  denied: readonly Extract<Event, { type: "tool.denied" }>[];
  ended: readonly Readonly<{ tool: string; error: boolean; text: string; status?: string }>[];
  questions: readonly string[];
  cwd: string;
}>;

type Setting = CrewOptions &
  Readonly<{ answer?(question: string): Answer | undefined; agent?: object; input?: object; home?: string | false }>;

/** Runs one agent whose model makes these calls, one after the other, and then ends. */
export async function play(
  calls: readonly Script[],
  { answer, agent = {}, input = {}, ...options }: Setting = {},
): Promise<Played> {
  const cwd = options.cwd ?? tempFolder();
  const crew = createCrew({
    home: tempFolder(),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work.", ...agent })],
    models: { m: scripted(...calls, "done") },
    model: "m",
    unattended: answer === undefined,
    ...options,
    cwd,
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Go.", ...input });
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    const said = event.type === "gate.opened" ? answer?.(event.question) : undefined;
    if (event.type === "gate.opened" && said) await run.answer(event.path, said, event.call);
  }
  await run;
  return {
    cwd,
    events,
    outcome: run.state.outcome,
    denied: events.filter((event) => event.type === "tool.denied"),
    ended: events.filter((event) => event.type === "tool.ended"),
    questions: events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : [])),
  };
}
