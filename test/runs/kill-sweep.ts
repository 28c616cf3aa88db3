import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { KeptEvent } from "../../src/core/event.ts";
import type { Result } from "../../src/core/result.ts";
import { readJournal } from "../../src/runtime/journal.ts";
import { place, script, type Ended, type Place } from "../cli/command.ts";

/** A way to run something with the real command: its words, and the files it needs. */
export type Mode = Readonly<{ args: readonly string[]; files: Readonly<Record<string, string>>; background?: true }>;

const append = (text: string): object => ({ calls: [{ name: "memory_append", input: { key: "witness", text } }] });
const done = (result: string): object => ({ calls: [{ name: "complete_task", input: { result } }] });
const model = (name: string): string => `scripted:${name}.json`;
const files = Object.fromEntries(
  ["a", "b", "c", "d"].map((name) => [`${name}.json`, script(append(`${name}1`), append(`${name}2`), done(`result of ${name}`))]),
);
const slow = script({ ...append("slow"), delayMs: 5_000 }, done("too late"));
const review = script(append("reviewed"), "LGTM");
const input = (value: unknown): string => JSON.stringify(value);

/** All five modes, each with tools that leave a line behind whenever they run; and one of them in the background. */
export const modes: Readonly<Record<string, Mode>> = {
  single: { args: ["run", "general", "do it", "--model", model("a")], files },
  parallel: {
    args: ["parallel", "--input", "work.json"],
    files: { ...files, "work.json": input({ mode: "parallel", tasks: ["a", "b", "c", "d"].map((name) => ({ name, agent: "general", task: name, model: model(name) })) }) },
  },
  chain: {
    args: ["chain", "--input", "work.json"],
    files: { ...files, "work.json": input({ mode: "chain", steps: ["a", "b", "c"].map((name) => ({ agent: "general", task: `${name} {previous}`, model: model(name) })) }) },
  },
  race: { args: ["race", "--agents", "general", "--models", [model("a"), model("slow")].join(), "who is first?"], files: { ...files, "slow.json": slow } },
  team: {
    args: ["team", "--input", "work.json"],
    files: {
      ...files,
      "review.json": review,
      "work.json": input({
        mode: "team",
        members: ["a", "b", "c", "d"].map((role) => ({ role, agent: "general", model: model(role) })).concat([{ role: "judge", agent: "general", model: model("review") }]),
        tasks: [
          { id: "one", task: "a", assignee: "a" },
          { id: "two", task: "b", assignee: "b", depends: ["one"] },
          { id: "three", task: "c", assignee: "c", depends: ["one"], review: { reviewer: "judge" } },
          { id: "four", task: "d", assignee: "d", depends: ["two", "three"] },
        ],
      }),
    },
  },
};

/** What came of a run: what people see, how often each tool did its work, and everything that was recorded. */
export type Seen = Readonly<{ ended: Ended; result: Pick<Result, "status" | "output">; witness: readonly string[]; events: readonly KeptEvent[] }>;

/** Runs a mode without anything going wrong, and says at which points something could. */
export async function calm(mode: Mode): Promise<Seen & { points: readonly string[] }> {
  const at = place(mode.files);
  const trace = join(at.home, "points");
  const ended = await start(at, mode, `trace@${trace}`);
  const seen = await look(at, ended);
  const points = readFileSync(trace, "utf8").trimEnd().split("\n");
  rmSync(at.workspace, { recursive: true });
  return { ...seen, points };
}

/** Kills the real process at a point, takes the run up again with another one, and compares. */
export async function killedAt(mode: Mode, fault: string, right: Seen): Promise<"before" | "after" | "hit"> {
  const at = place(mode.files);
  const first = await start(at, mode, fault);
  if (first.signal !== "SIGKILL") return "after";
  const told = eventsIn(first.stdout);
  const id = runIn(at);
  const { events: kept } = id === undefined ? { events: [] } : await readJournal(join(at.env["SUBCREW_HOME"]!, "runs", id)).catch(() => ({ events: [] }));
  expect(kept.slice(0, told.length), `${fault}: everything that was printed is recorded`).toEqual(told);
  if (id === undefined || kept.length === 0) {
    expect(told, `${fault}: nothing was recorded, so nothing was printed`).toEqual([]);
    return "before";
  }
  const again = await look(at, await at.run(["resume", id, "--json"]));
  expect(again.result, `${fault}: ${again.ended.stderr}`).toEqual(right.result);
  expect(again.events.slice(0, kept.length), `${fault}: what was recorded stays`).toEqual(kept);
  expect(again.events.filter(({ type }) => type === "run.ended").length, `${fault}: one ending`).toBe(1);
  // A line that is there twice was written twice; one that is missing belongs to a call whose outcome nobody knows.
  expect(new Set(again.witness).size, `${fault}: nothing was done twice: ${again.witness.join()}`).toBe(again.witness.length);
  const unknown = again.events.filter((event) => event.type === "tool.started" && event.effect === "write" && !again.events.some((end) => end.type === "tool.ended" && end.call === event.call && end.path === event.path && end.seq > event.seq));
  expect(right.witness.filter((line) => !again.witness.includes(line)).length, `${fault}: nothing was left out`).toBeLessThanOrEqual(unknown.length);
  const late = await at.run(["resume", id, "--json"]);
  expect(eventsIn(late.stdout), `${fault}: the end is the end`).toEqual(again.events);
  rmSync(at.workspace, { recursive: true });
  rmSync(at.home, { recursive: true });
  return "hit";
}

const start = (at: Place, { args }: Mode, fault: string): Promise<Ended> => at.run([...args, "--json"], { env: { SUBCREW_FAULT: fault } });

async function look(at: Place, ended: Ended): Promise<Seen> {
  const last = JSON.parse(ended.stdout.trimEnd().split("\n").at(-1) || "{}") as Result & { type: string };
  const id = runIn(at);
  const { events } = await readJournal(join(at.env["SUBCREW_HOME"]!, "runs", id!));
  return { ended, result: { status: last.status, output: last.output }, witness: witnessOf(at), events };
}

function eventsIn(stdout: string): KeptEvent[] {
  const whole = stdout.slice(0, stdout.lastIndexOf("\n") + 1).trimEnd();
  const lines = whole === "" ? [] : whole.split("\n").map((line) => JSON.parse(line) as KeptEvent);
  return lines.filter((line) => typeof line.seq === "number");
}

function runIn(at: Place): string | undefined {
  return names(join(at.env["SUBCREW_HOME"]!, "runs"))[0];
}

/** The lines that the tools have left, in whatever file the notes are. */
function witnessOf(at: Place): string[] {
  const memory = join(at.env["SUBCREW_HOME"]!, "memory");
  const notes = names(memory, true).filter((name) => name.includes("witness") && !name.includes(".lock"));
  return notes.flatMap((name) => readFileSync(join(memory, name), "utf8").split("\n").filter((line) => /^(?:[a-d][12]|slow|reviewed)$/.test(line)));
}

function names(folder: string, recursive = false): string[] {
  try {
    return readdirSync(folder, { recursive }) as string[];
  } catch {
    return [];
  }
}

/** So many of the numbers from one to `of`, evenly. */
export function sample(of: number, count: number): number[] {
  if (of <= count) return Array.from({ length: of }, (_, at) => at + 1);
  return Array.from({ length: count }, (_, at) => 1 + Math.round((at * (of - 1)) / (count - 1)));
}
