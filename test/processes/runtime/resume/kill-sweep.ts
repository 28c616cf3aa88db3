import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import type { Result } from "../../../../src/core/run/result.ts";
import { isOwned } from "../../../../src/runtime/disk/run-claim.ts";
import { readJournal } from "../../../../src/runtime/store/journal.ts";
import { type Ended, type Place, place, script } from "../../command.ts";

/** A way to run something with the real command: its words, and the files it needs. */
type Mode = Readonly<{
  args: readonly string[];
  files: Readonly<Record<string, string>>;
  /** In the background: which process is killed, the run's own or the one that starts it. */
  background?: "own" | "starter";
}>;

const append = (text: string): object => ({ calls: [{ name: "memory_append", input: { key: "witness", text } }] });
const model = (name: string): string => `scripted:${name}.json`;
const files = Object.fromEntries(
  ["a", "b", "c", "d"].map((name) => [
    `${name}.json`,
    script(append(`${name}1`), append(`${name}2`), `result of ${name}`),
  ]),
);
const slow = script({ ...append("slow"), delayMs: 600_000 }, "too late");
const review = script(append("reviewed"), "APPROVED");
const input = (value: unknown): string => JSON.stringify(value);

/** All five modes, each with tools that leave a line behind whenever they run; and one of them in the background. */
export const modes: Record<string, Mode> = {
  single: { args: ["run", "general", "do it", "--model", model("a")], files },
  parallel: {
    args: ["parallel", "--input", "work.json"],
    files: {
      ...files,
      "work.json": input({
        mode: "parallel",
        tasks: ["a", "b", "c", "d"].map((name) => ({ name, agent: "general", task: name, model: model(name) })),
      }),
    },
  },
  chain: {
    args: ["chain", "--input", "work.json"],
    files: {
      ...files,
      "work.json": input({
        mode: "chain",
        chain: ["a", "b", "c"].map((name) => ({ agent: "general", task: `${name} {previous}`, model: model(name) })),
      }),
    },
  },
  race: {
    args: ["race", "--agents", "general", "--models", [model("a"), model("slow")].join(), "who is first?"],
    files: { ...files, "slow.json": slow },
  },
  team: {
    args: ["team", "--input", "work.json"],
    files: {
      ...files,
      "review.json": review,
      "work.json": input({
        mode: "team",
        team: {
          members: ["a", "b", "c", "d"]
            .map((role) => ({ role, agent: "general", model: model(role) }))
            .concat([{ role: "judge", agent: "general", model: model("review") }]),
          tasks: [
            { id: "one", task: "a", assignee: "a" },
            { id: "two", task: "b", assignee: "b", depends: ["one"] },
            { id: "three", task: "c", assignee: "c", depends: ["one"], review: { reviewer: "judge" } },
            { id: "four", task: "d", assignee: "d", depends: ["two", "three"] },
          ],
        },
      }),
    },
  },
};

modes["in the background"] = { ...modes["team"]!, background: "own" };
modes["starting one in the background"] = { ...modes["single"]!, background: "starter" };

/** What came of a run: what people see, how often each tool did its work, and everything that was recorded. */
type Seen = Readonly<{
  ended: Ended;
  result: Pick<Result, "status" | "output">;
  witness: readonly string[];
  events: readonly KeptEvent[];
}>;

/** Runs a mode without anything going wrong, and says at which points something could. */
async function calm(mode: Mode): Promise<Seen & { points: readonly string[] }> {
  const at = place(mode.files);
  const trace = join(at.home, "points");
  let ended = await start(at, mode, `trace@${trace}`);
  if (mode.background) {
    await nobodyWorks(at, runIn(at));
    ended = await at.run(["resume", runIn(at)!, "--json"]);
  }
  const seen = await look(at, ended);
  const points = readFileSync(trace, "utf8").trimEnd().split("\n");
  rmSync(at.workspace, { recursive: true });
  return { ...seen, points };
}

/** Kills the real process at a point, takes the run up again with another one, and compares. */
async function killedAt(mode: Mode, fault: string, right: Seen): Promise<"before" | "after" | "hit"> {
  const at = place(mode.files);
  const first = await start(at, mode, fault);
  const id = runIn(at);
  if (mode.background) await nobodyWorks(at, id);
  if (mode.background !== "own" && first.signal !== "SIGKILL") return "after";
  const told = mode.background ? [] : eventsIn(first.stdout);
  const { events: kept } =
    id === undefined
      ? { events: [] }
      : await readJournal(join(at.env["SUBCREW_HOME"]!, "runs", id)).catch(() => ({ events: [] }));
  expect(kept.slice(0, told.length), `${fault}: everything that was printed is recorded`).toEqual(told);
  if (id === undefined || kept.length === 0) {
    expect(told, `${fault}: nothing was recorded, so nothing was printed`).toEqual([]);
    expect(mode.background !== undefined && first.code === 0, `${fault}: nor was it said to have started`).toBe(false);
    return "before";
  }
  const again = await look(at, await at.run(["resume", id, "--json"]));
  expect(again.result, `${fault}: ${again.ended.stderr}`).toEqual(right.result);
  expect(again.events.slice(0, kept.length), `${fault}: what was recorded stays`).toEqual(kept);
  expect(again.events.filter(({ type }) => type === "run.ended").length, `${fault}: one ending`).toBe(1);
  // Each tool leaves a line. One too many was repeated; one that is missing belongs to a call whose outcome nobody knows.
  const repeated = again.witness.filter((line) => times(line, again.witness) > times(line, right.witness));
  expect(repeated, `${fault}: nothing was done twice`).toEqual([]);
  const unknown = again.events.filter(
    (event) =>
      event.type === "tool.started" &&
      event.effect === "write" &&
      !again.events.some(
        (end) => end.type === "tool.ended" && end.call === event.call && end.path === event.path && end.seq > event.seq,
      ),
  );
  expect(
    right.witness.filter((line) => !again.witness.includes(line)).length,
    `${fault}: nothing was left out`,
  ).toBeLessThanOrEqual(unknown.length);
  rmSync(at.workspace, { recursive: true });
  rmSync(at.home, { recursive: true });
  return "hit";
}

const times = (line: string, lines: readonly string[]): number => lines.filter((other) => other === line).length;

const start = (at: Place, { args, background }: Mode, fault: string): Promise<Ended> =>
  at.run([...args, "--json", ...(background ? ["--bg"] : [])], {
    env: { [background === "own" ? "SUBCREW_BACKGROUND_FAULT" : "SUBCREW_FAULT"]: fault },
  });

/** Waits until the process of a background run is gone, or never came. */
async function nobodyWorks(at: Place, id: string | undefined): Promise<void> {
  const folder = join(at.env["SUBCREW_HOME"]!, "runs", id ?? "");
  const command = `background-run ${id}`;
  const works = async (): Promise<boolean> =>
    (await isOwned(folder)) || execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).includes(command);
  while (id !== undefined && (await works())) await sleep(30);
}

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

/** The lines that the tools have left: the newest revision of their note. */
function witnessOf(at: Place): string[] {
  const memory = join(at.env["SUBCREW_HOME"]!, "memory");
  const revisions = names(memory, true).filter((name) => /witness~[0-9a-f]+\/\d+$/.test(name));
  const newest = revisions.toSorted((a, b) => Number(/\d+$/.exec(a)?.[0]) - Number(/\d+$/.exec(b)?.[0])).at(-1);
  const lines = newest === undefined ? [] : readFileSync(join(memory, newest), "utf8").split("\n");
  return lines.filter((line) => /^(?:[a-d][12]|slow|reviewed)$/.test(line));
}

function names(folder: string, recursive = false): string[] {
  try {
    return readdirSync(folder, { recursive }) as string[];
  } catch {
    return [];
  }
}

/** How many processes are killed at once. */
const WIDTH = 4;

/** Kills a mode at so many of its points, or at all of them. */
export async function sweep(
  mode: Mode,
  count = Number.POSITIVE_INFINITY,
): Promise<{ points: number; killed: number; resumed: number }> {
  const right = await calm(mode);
  expect(right.result.status, right.ended.stderr).toBe("ok");
  const rest = sample(right.points.length, count);
  const ends: string[] = [];
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      for (let point = rest.shift(); point !== undefined; point = rest.shift())
        ends.push(await killedAt(mode, `kill@${point}`, right));
    }),
  );
  return {
    points: right.points.length,
    killed: ends.filter((end) => end !== "after").length,
    resumed: ends.filter((end) => end === "hit").length,
  };
}

/** So many of the numbers from one to `of`, evenly. */
function sample(of: number, count: number): number[] {
  if (of <= count) return Array.from({ length: of }, (_, at) => at + 1);
  return Array.from({ length: count }, (_, at) => 1 + Math.round((at * (of - 1)) / (count - 1)));
}
