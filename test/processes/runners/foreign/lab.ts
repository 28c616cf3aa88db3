import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../../../src/core/plan/gate.ts";
import {
  type CrewOptions,
  createCrew,
  defineAgent,
  type Event,
  type Result,
  type RunOptions,
  type RunInput,
} from "../../../../src/index.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

/** One step of a fake tool: it prints a line, writes to stderr, writes a file, starts a child, hangs, or exits. */
export type Step =
  | Readonly<{ line: unknown }>
  | Readonly<{ say: string }>
  | Readonly<{ write: string; text: string }>
  | Readonly<{ child: true }>
  | Readonly<{ hang: true }>
  | Readonly<{ exit: number }>;

export type Called = Readonly<{
  args: string[];
  env: Record<string, string>;
  input: string;
  rules: string;
  cwd: string;
}>;

/** A folder for PATH with one fake tool in it. */
export function fake(name: string, steps: readonly Step[]): { bin: string; called(): Called } {
  const bin = tempFolder();
  const file = join(bin, name);
  const source = readFileSync(join(import.meta.dirname, "fake.mjs"), "utf8");
  writeFileSync(join(bin, "package.json"), '{"type":"module"}');
  writeFileSync(file, `#!${process.execPath}\n${source}`);
  chmodSync(file, 0o755);
  writeFileSync(join(bin, `${name}.script.json`), JSON.stringify(steps));
  return { bin, called: () => JSON.parse(readFileSync(join(bin, `${name}.called.json`), "utf8")) as Called };
}

export type Setting = Omit<CrewOptions, "env"> &
  Readonly<{
    agent?: object;
    task?: object;
    run?: RunOptions;
    env?: Readonly<Record<string, string>>;
    answer?(question: string): Answer;
    heard?(event: Event, stop: () => void): void;
  }>;

export type Ran = Readonly<{ result: Result; events: readonly Event[]; cwd: string; questions: readonly string[] }>;

/** Gives one task to a runner. */
export async function handTo(runner: string, path: string, setting: Setting = {}): Promise<Ran> {
  const { agent = {}, task = {}, run: how = {}, env = {}, answer, heard, ...options } = setting;
  const cwd = options.cwd ?? tempFolder({ "notes.txt": "the answer is 42\n" });
  const crew = createCrew({
    home: tempFolder(),
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Be brief.", ...agent })],
    env: { PATH: `${path}:/usr/bin:/bin`, HOME: tempFolder(), ...env },
    permissions: { mode: "default" },
    unattended: answer === undefined,
    ...options,
    cwd,
  });
  const run = crew.run(
    { mode: "single", agent: "worker", task: "What is in notes.txt?", runner, ...task } as RunInput,
    how,
  );
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    heard?.(event, () => run.cancel("enough"));
    if (event.type === "gate.opened" && answer) await run.answer(event.path, answer(event.question), event.call);
  }
  const questions = events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : []));
  return { result: await run, events, cwd, questions };
}

/** The calls of a task and their results. */
export function told(events: readonly Event[]): string[] {
  return events.flatMap((event) => {
    if (event.type === "tool.started") return [`call ${event.tool} ${event.effect}`];
    return event.type === "tool.ended"
      ? [`result ${event.tool} ${event.error ? "error" : "ok"} ${event.text.trim()}`]
      : [];
  });
}

/** The text of a task, piece by piece. */
export const said = (events: readonly Event[]): string =>
  events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("");
