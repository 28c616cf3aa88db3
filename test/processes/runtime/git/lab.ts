import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../../../src/core/plan/gate.ts";
import {
  type Crew,
  type CrewOptions,
  createCrew,
  defineAgent,
  type Event,
  type Result,
  type RunInput,
} from "../../../../src/index.ts";
import { type Script, scripted } from "../../../../src/models/scripted/scripted.ts";
import { repository, shell } from "../../../support/repository.ts";
import { tempFolder } from "../../../support/temp-folder.ts";

/** A repository with three files and one commit. */
export const project = (...more: readonly string[]): string =>
  repository(
    "mkdir -p src && seq 1 30 > src/list.txt && echo one > a.txt && printf '#!/bin/sh\\n' > run.sh",
    "git add . && git commit -qm first",
    ...more,
  );

/** The turns of a task by the word in its prompt. */
export type Turns = Readonly<Record<string, readonly Script[]>>;

type Setting = CrewOptions &
  Readonly<{ agent?: object; answer?(question: string): Answer; heard?(event: Event): unknown }>;

export type Ran = Readonly<{ result: Result; events: readonly Event[]; home: string; questions: readonly string[] }>;

/** A crew whose agents have the names of the turns they play. */
export function crewFor(
  cwd: string,
  turns: Turns,
  { agent = {}, answer: _, heard: __, ...options }: Setting = {},
): Crew {
  return createCrew({
    cwd,
    home: tempFolder(),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: tempFolder() },
    discover: false,
    agents: Object.keys(turns).map((name) =>
      defineAgent({ name, description: name, instructions: "Work.", model: name, ...agent }),
    ),
    models: Object.fromEntries(Object.entries(turns).map(([name, all]) => [name, scripted(...all)])),
    permissions: { mode: "acceptEdits" },
    unattended: true,
    ...options,
  });
}

/** Runs an input to its end. */
export async function runs(cwd: string, turns: Turns, input: object, setting: Setting = {}): Promise<Ran> {
  const home = tempFolder();
  const run = crewFor(cwd, turns, { home, unattended: setting.answer === undefined, ...setting }).run(
    input as RunInput,
  );
  const events: Event[] = [];
  for await (const event of run) {
    events.push(event);
    setting.heard?.(event);
    if (event.type === "gate.opened" && setting.answer)
      await run.answer(event.path, setting.answer(event.question), event.call);
  }
  const questions = events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : []));
  return { result: await run, events, home, questions };
}

export const alone = (agent: string, more: object = {}): object => ({
  mode: "single",
  agent,
  task: "Go.",
  isolation: "worktree",
  ...more,
});

/** Everything in a repository, besides the files themselves, that must not change. */
export function state(cwd: string): string {
  return shell(
    cwd,
    "git for-each-ref; git stash list; git worktree list; git count-objects; git status --porcelain; git ls-files -s; ls .git",
  );
}

export const text = (cwd: string, file: string): string => readFileSync(join(cwd, file), "utf8");

/** A turn that ends only when the task is stopped. */
export const waits = { text: "not stopped", delayMs: 1_000_000 };

export const write = (path: string, content: string): Script => ({
  calls: [{ name: "write_file", input: { path, content } }],
});

export const warnings = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === "warning" ? [`${event.code}: ${event.text}`] : []));
