import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { KeptEvent } from "../../../../src/core/run/event.ts";
import type { Result } from "../../../../src/core/run/result.ts";
import { ownerOf } from "../../../../src/runtime/store/run-claim.ts";
import { readJournal } from "../../../../src/runtime/store/read-journal.ts";
import { type Ended, type Place, place, script, type Started } from "../../command.ts";

/** A scenario of these tests: the arguments of the real command, and the files it needs. */
type Mode = Readonly<{
  args: readonly string[];
  files: Readonly<Record<string, string>>;
  /** In the background: which process is killed, that of the run or the one that starts it. */
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

/** All five modes, each with tools that write a line whenever they run; and one of them in the background. */
export const modes: Record<string, Mode> = {
  single: { args: ["run", "pegasus:general", "do it", "--model", model("a")], files },
  parallel: {
    args: ["parallel", "--input", "work.json"],
    files: {
      ...files,
      "work.json": input({
        mode: "parallel",
        tasks: ["a", "b", "c", "d"].map((name) => ({ name, agent: "pegasus:general", task: name, model: model(name) })),
      }),
    },
  },
  chain: {
    args: ["chain", "--input", "work.json"],
    files: {
      ...files,
      "work.json": input({
        mode: "chain",
        chain: ["a", "b", "c"].map((name) => ({
          agent: "pegasus:general",
          task: `${name} {previous}`,
          model: model(name),
        })),
      }),
    },
  },
  race: {
    args: ["race", "--agents", "pegasus:general", "--models", [model("a"), model("slow")].join(), "who is first?"],
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
            .map((role) => ({ role, agent: "pegasus:general", model: model(role) }))
            .concat([{ role: "judge", agent: "pegasus:general", model: model("review") }]),
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

/** The result of a run: what people see, how often each tool ran, and everything that was recorded. */
type Seen = Readonly<{
  ended: Ended;
  result: Pick<Result, "status" | "output">;
  witness: readonly string[];
  events: readonly KeptEvent[];
}>;

/** Runs a mode without a fault, and returns the points at which one could happen. */
async function calm(mode: Mode): Promise<Seen & { points: readonly string[] }> {
  const at = place(mode.files);
  const trace = join(at.home, "points");
  let ended = await start(at, mode, `trace@${trace}`).ended;
  if (mode.background) {
    await nobodyWorks(at, runIn(at));
    ended = await at.run(["resume", runIn(at)!, "--json"]);
  }
  const seen = await look(at, ended);
  const points = readFileSync(trace, "utf8").trimEnd().split("\n");
  rmSync(at.workspace, { recursive: true });
  return { ...seen, points };
}

/** Ways in which a run is stopped at a point: faults of its process, and commands of another one. */
export const STOPS = ["kill", "int", "term", "hup", "stop", "cancel"] as const;
type StopKind = (typeof STOPS)[number];

const EXITS: Readonly<Partial<Record<StopKind, number>>> = { int: 130, term: 143, hup: 129, stop: 130 };

/** Stops the real process at a point, resumes the run with another one, and compares. */
async function stoppedAt({ mode, kind, point, right }: Stop): Promise<"before" | "after" | "hit"> {
  const fault = `${kind}@${point}`;
  const at = place(mode.files);
  const told = kind === "stop" || kind === "cancel";
  const running = start(at, mode, told ? `stop@${point}` : fault);
  if (told) await tellFrozen(at, kind, running);
  const first = await running.ended;
  const id = runIn(at);
  if (mode.background) await nobodyWorks(at, id);
  const printed = mode.background ? [] : eventsIn(first.stdout);
  const { events: kept } =
    id === undefined
      ? { events: [] }
      : await readJournal(join(at.env["SUBCREW_HOME"]!, "runs", id)).catch(() => ({ events: [] }));
  expect(kept.slice(0, printed.length), `${fault}: everything that was printed is recorded`).toEqual(printed);
  if (id === undefined || kept.length === 0) {
    expect(printed, `${fault}: nothing was recorded, so nothing was printed`).toEqual([]);
    expect(mode.background !== undefined && first.code === 0, `${fault}: nor was it said to have started`).toBe(false);
    return "before";
  }
  const last = kept.at(-1);
  const isCancelled = last?.type === "run.ended" && last.outcome.status === "cancelled";
  if (last?.type === "run.ended" && !isCancelled && !first.signal) return "after";
  if (last?.type === "run.paused" && !mode.background)
    expect(first.code, `${fault}: ${first.stderr}`).toBe(EXITS[kind]);
  if (isCancelled) expect(kind, `${fault}: only a cancel ends a run`).toBe("cancel");
  const again = await look(at, await at.run(["resume", id, "--json"]));
  expect(again.events.slice(0, kept.length), `${fault}: what was recorded stays`).toEqual(kept);
  expect(again.events.filter(({ type }) => type === "run.ended").length, `${fault}: one ending`).toBe(1);
  // Each call of a tool writes a line. An extra line is a repeated call; a missing one is a call with unknown outcome.
  const repeated = again.witness.filter((line) => times(line, again.witness) > times(line, right.witness));
  expect(repeated, `${fault}: nothing was done twice`).toEqual([]);
  // A recorded turn is never requested again.
  const turns = again.events.flatMap((event) => (event.type === "turn.ended" ? [`${event.path}#${event.turn}`] : []));
  expect(
    turns.filter((turn) => times(turn, turns) > 1),
    `${fault}: no recorded turn was asked again`,
  ).toEqual([]);
  if (isCancelled) expect(again.events, `${fault}: a cancelled run does not go on`).toEqual(kept);
  else {
    expect(again.result, `${fault}: ${again.ended.stderr}`).toEqual(right.result);
    const unknown = again.events.filter(
      (event) =>
        event.type === "tool.started" &&
        event.effect === "write" &&
        !again.events.some(
          (end) =>
            end.type === "tool.ended" && end.call === event.call && end.path === event.path && end.seq > event.seq,
        ),
    );
    expect(
      right.witness.filter((line) => !again.witness.includes(line)).length,
      `${fault}: nothing was left out`,
    ).toBeLessThanOrEqual(unknown.length);
  }
  rmSync(at.workspace, { recursive: true });
  rmSync(at.home, { recursive: true });
  return "hit";
}

/** Sends a command to a run whose process is stopped at a point, and continues the process. */
async function tellFrozen(at: Place, command: "stop" | "cancel", { child, ended }: Started): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  const works = processesOf(at, child.pid!);
  let frozen: number | undefined;
  // A background run continues after the process that started it has gone.
  for (let left = [0]; frozen === undefined && (!over || left.length > 0); await sleep(20)) {
    left = works();
    frozen = left.find((pid) => stateOf(pid) === "T");
  }
  if (frozen === undefined) return;
  const id = runIn(at);
  const folder = id === undefined ? undefined : join(at.env["SUBCREW_HOME"]!, "runs", id);
  if (folder !== undefined && (await ownerOf(folder)) !== undefined) {
    const told = at.run([command, id!]);
    let left = false;
    void told.then(() => (left = true));
    while (!left && !names(join(at.env["SUBCREW_HOME"]!, "run-commands")).some((name) => name.endsWith(".json")))
      await sleep(20);
    process.kill(frozen, "SIGCONT");
    await told;
  } else process.kill(frozen, "SIGCONT");
}

/** Lists every process that works for this place. Processes that belong to other places are not read again. */
function processesOf({ home }: Place, starter: number): () => number[] {
  const others = new Set<number>();
  const isOurs = (pid: number): boolean => {
    const environment = textIn(`/proc/${pid}/environ`);
    const ours = environment.split("\0").includes(`HOME=${home}`);
    if (!ours && environment !== "") others.add(pid);
    return ours;
  };
  return () => {
    const running = names("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
    return running.filter((pid) => pid === starter || (!others.has(pid) && isOurs(pid)));
  };
}

const stateOf = (pid: number): string => /\) (\S)/.exec(textIn(`/proc/${pid}/stat`))?.[1] ?? "";

function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const times = (line: string, lines: readonly string[]): number => lines.filter((other) => other === line).length;

const start = (at: Place, { args, background }: Mode, fault: string): Started =>
  at.start([...args, "--json", ...(background ? ["--bg"] : [])], {
    env: { [background === "own" ? "SUBCREW_BACKGROUND_FAULT" : "SUBCREW_FAULT"]: fault },
  });

/** Waits until the process of a background run is gone, or was never started. */
async function nobodyWorks(at: Place, id: string | undefined): Promise<void> {
  const folder = join(at.env["SUBCREW_HOME"]!, "runs", id ?? "");
  const command = `background-run ${id}`;
  const works = async (): Promise<boolean> =>
    (await ownerOf(folder)) !== undefined ||
    execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).includes(command);
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

/** The lines that the tools wrote: the newest revision of their note. */
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

/** How many processes are stopped in parallel. */
const WIDTH = 4;

type Stop = Readonly<{ name: string; mode: Mode; right: Seen; kind: StopKind; point: number }>;

/** A process that only starts another one takes no commands. */
const waysOf = ({ background }: Mode, kinds: readonly StopKind[]): readonly StopKind[] =>
  background === "starter" ? kinds.filter((kind) => kind !== "stop" && kind !== "cancel") : kinds;

async function sideBySide(stops: Iterable<Stop>, act: (stop: Stop) => Promise<void>): Promise<void> {
  const rest = stops[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      for (let next = rest.next(); !next.done; next = rest.next()) await act(next.value);
    }),
  );
}

/** Stops a mode at this many of its points, evenly spread, at each of them in the next way. */
export async function sweep(
  mode: Mode,
  count: number,
  kinds: readonly StopKind[],
): Promise<{ points: number; stopped: number; resumed: number }> {
  const right = await calm(mode);
  expect(right.result.status, right.ended.stderr).toBe("ok");
  const ways = waysOf(mode, kinds);
  const ends: string[] = [];
  const stops = sample(right.points.length, count).map((point, at) => ({ kind: ways[at % ways.length]!, point }));
  await sideBySide(
    stops.map((stop) => ({ name: "", mode, right, ...stop })),
    async (stop) => void ends.push(await stoppedAt(stop)),
  );
  return {
    points: right.points.length,
    stopped: ends.filter((end) => end !== "after").length,
    resumed: ends.filter((end) => end === "hit").length,
  };
}

/** A number of evenly spread integers from one to `of`. */
function sample(of: number, count: number): number[] {
  if (of <= count) return Array.from({ length: of }, (_, at) => at + 1);
  return Array.from({ length: count }, (_, at) => 1 + Math.round((at * (of - 1)) / (count - 1)));
}

export type Swept = Readonly<{ all: number; done: number; resumed: Readonly<Record<string, number>>; wrong: string[] }>;

/**
 * Stops every mode at every point in every way, in a fixed order that mixes all of them, from one position of this
 * order on until all are done or the time is over.
 */
export async function sweepAll(
  from: number,
  until: number,
  progress: (done: number, all: number) => void,
): Promise<Swept> {
  const stops: Stop[] = [];
  for (const [name, mode] of Object.entries(modes)) {
    const right = await calm(mode);
    expect(right.result.status, right.ended.stderr).toBe("ok");
    for (const point of sample(right.points.length, Number.POSITIVE_INFINITY))
      for (const kind of waysOf(mode, STOPS)) stops.push({ name, mode, right, kind, point });
  }
  const resumed: Record<string, number> = {};
  const wrong: string[] = [];
  let done = 0;
  const mixed = function* (): Generator<Stop> {
    const stride = strideFor(stops.length);
    for (let at = 0; at < stops.length && performance.now() < until; at += 1)
      yield stops[((from + at) * stride) % stops.length]!;
  };
  await sideBySide(mixed(), async (stop) => {
    try {
      if ((await stoppedAt(stop)) === "hit") resumed[stop.name] = (resumed[stop.name] ?? 0) + 1;
    } catch (error) {
      wrong.push(`${stop.name}, ${String(error)}`);
      process.stdout.write(`soak: ${wrong.at(-1)}\n`);
    }
    done += 1;
    progress(done, stops.length);
  });
  return { all: stops.length, done, resumed, wrong };
}

/** A step that has no common divisor with a number and spreads evenly over all smaller numbers. */
function strideFor(all: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let stride = Math.max(1, Math.round(all * 0.618));
  while (divisor(stride, all) !== 1) stride += 1;
  return stride;
}
