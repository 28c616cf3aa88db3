import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Library from "../../../src/index.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const built = join(import.meta.dirname, "../../..", "dist", "lib", "index.js");
if (!existsSync(built)) throw new Error("dist/lib/index.js is missing: run `npm run build` first");

/** The built library: Node 20 can start no process or thread with a source file. */
export const { createCrew, defineAgent } = (await import(pathToFileURL(built).href)) as typeof Library;

export type RunnerName = "local" | "thread" | "process";
export type Turn = string | Readonly<Record<string, unknown>>;
export type Event = Library.Event;
export type Input = Library.RunInput;

/** A turn that calls one tool. */
export const calls = (name: string, input: object = {}, text = ""): Turn => ({ text, calls: [{ name, input }] });

/** The settings of one experiment. */
export type Experiment = Readonly<{
  /** The turns of each agent's model. */
  agents: Readonly<Record<string, readonly Turn[]>>;
  /** The settings of an agent. */
  more?: Readonly<Record<string, object>>;
  runner?: RunnerName;
  options?: Library.CrewOptions;
}>;

export const toolsFile = join(import.meta.dirname, "tools.mjs");

/** A crew whose agents play their scripts; `mark` is in the environment of every process that it starts. */
export function lab({ agents, more = {}, runner, options = {} }: Experiment): {
  crew: Library.Crew;
  mark: string;
  folder: string;
} {
  const files = Object.fromEntries(
    Object.entries(agents).map(([name, turns]) => [`${name}.json`, JSON.stringify(turns)]),
  );
  const folder = tempFolder({ ...files, "notes.txt": "the answer is 42\n" });
  const mark = `mark-${Math.random().toString(36).slice(2)}`;
  const crew = createCrew({
    cwd: folder,
    home: join(folder, "state"),
    discover: false,
    env: { PATH: process.env["PATH"], HOME: folder, SUBCREW_TEST_MARK: mark },
    passEnv: ["SUBCREW_TEST_MARK"],
    permissions: { mode: "bypass", sandbox: "off" },
    toolModules: [toolsFile],
    agents: Object.keys(agents).map((name) =>
      defineAgent({
        name,
        description: name,
        instructions: "Work.",
        model: `scripted:${name}.json`,
        tools: ["*", "start", "where_am_i"],
        ...(runner && { runner }),
        ...more[name],
      }),
    ),
    ...options,
  });
  return { crew, mark, folder };
}

/** Follows a run until its end. */
export async function listen(
  run: Library.Run,
  heard: (event: Event) => void = () => {},
): Promise<{ result: Library.Result; events: Event[] }> {
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    heard(event);
  }
  return { result: await run, events };
}

/** The living processes that were started with this mark; Linux only. */
export function alive(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => textOf(`/proc/${pid}/environ`).includes(`SUBCREW_TEST_MARK=${mark}`));
}

export function commandLineOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).split("\0").join(" ");
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

/** Waits until a condition is true; returns how long that took. */
export async function until(isSo: () => boolean, ms = 60_000): Promise<number> {
  const began = performance.now();
  while (!isSo()) {
    if (performance.now() - began > ms) throw new Error(`it is not so after ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50)); // reading the list of all processes takes a few milliseconds of processor time
  }
  return performance.now() - began;
}
