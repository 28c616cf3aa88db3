import {
  type Agent,
  type Crew,
  type CrewOptions,
  createCrew,
  defineAgent,
  type Event,
  type Result,
  type RunOptions,
} from "../../src/index.ts";
import { type Script, type ScriptedModel, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "./temp-folder.ts";

/** One call of a tool, as a turn of a scripted model. */
export const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });
/** Several calls in one turn. */
export const calls = (...all: readonly (readonly [string, object])[]): Script => ({
  calls: all.map(([name, input]) => ({ name, input })),
});

/** The agents of a run, and the turns of each of their models. */
export type Cast = Readonly<Record<string, Readonly<{ says: readonly Script[] } & Partial<Agent>>>>;

export type Played = Readonly<{
  result: Result;
  events: readonly Event[];
  models: Readonly<Record<string, ScriptedModel>>;
  /** The tool results that the model of an agent read, in order. */
  read(agent: string): readonly string[];
  /** The tools that the model of an agent was shown in its first turn. */
  shown(agent: string): readonly string[];
  cwd: string;
}>;

/** A crew of these agents, each with its own scripted model. */
export function crewOf(cast: Cast, options: CrewOptions = {}): Readonly<{ crew: Crew; models: Played["models"] }> {
  const models = Object.fromEntries(Object.entries(cast).map(([name, { says }]) => [name, scripted(...says)]));
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    unattended: true,
    agents: Object.entries(cast).map(([name, { says: _, ...more }]) =>
      defineAgent({ name, description: `Plays ${name}.`, instructions: `You are ${name}.`, model: name, ...more }),
    ),
    models,
    ...options,
  });
  return { crew, models };
}

/** A crew with the agents of a trusted project. */
export const projectCrew = (cwd: string, options: CrewOptions): Crew =>
  createCrew({
    cwd,
    home: tempFolder(),
    userHome: tempFolder(),
    env: { PATH: "/bin" },
    trusted: true,
    ...options,
  });

/** Runs `lead`, which can start the other agents, each with its own scripted model. `input`: further fields of its task. */
export async function stage(
  cast: Cast,
  options: CrewOptions = {},
  run: RunOptions = {},
  input: object = {},
): Promise<Played> {
  const cwd = options.cwd ?? tempFolder();
  const { crew, models } = crewOf(cast, { ...options, cwd });
  const running = crew.run({ mode: "single", agent: "lead", task: "Lead.", ...input }, run);
  const events: Event[] = [];
  for await (const event of running) events.push(event);
  const requests = (agent: string): ScriptedModel["requests"] => models[agent]?.requests ?? [];
  return {
    result: await running,
    events,
    models,
    cwd,
    read: (agent) => {
      const last = requests(agent).at(-1)?.messages ?? [];
      return last.flatMap((message) => (message.role === "tool" ? message.results.map(({ text }) => text) : []));
    },
    shown: (agent) => (requests(agent)[0]?.tools ?? []).map(({ name }) => name),
  };
}
