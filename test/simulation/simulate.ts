import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Node, Plan } from "../../src/core/plan/plan.ts";
import type { Event, KeptEvent } from "../../src/core/run/event.ts";
import { isKept } from "../../src/core/run/kept-event.ts";
import { messageOf } from "../../src/core/schema/error.ts";
import { readRecords } from "../support/read-records.ts";
import { worlds } from "../runtime/execute/random-plan.ts";
import { agents, allowed, type Deed, type Stage, type Thought, wider } from "./cast.ts";
import { createDice, type Dice } from "./dice.ts";
import { createDisk } from "./disk.ts";
import { drawFaults, type Faults } from "./faults.ts";
import { begin, HOME, type Life, RUN } from "./life.ts";
import { createTime } from "./time.ts";

/** Everything that happened with one seed. */
export type Story = Readonly<{
  seed: number;
  plan: Plan;
  slots: number;
  faults: Faults;
  /** The journal on the disk at the end. */
  journal: readonly KeptEvent[];
  /** Everything that was seen and done, in order: the same for the same seed. */
  hash: string;
  files: ReadonlyMap<string, Buffer>;
  lives: readonly LifeStory[];
  deeds: readonly Deed[];
  thoughts: readonly Thought[];
  steps: number;
  /** The time at which the person cancelled the run. */
  cancelled?: Readonly<{ life: number; step: number }>;
  /** The time at which the person paused the run. */
  paused?: Readonly<{ life: number; step: number }>;
  /** Violations of rules that hold at every moment. */
  broken: readonly string[];
}>;

export type LifeStory = {
  readonly number: number;
  past: readonly KeptEvent[];
  readonly published: Event[];
  readonly performed: string[];
  /** Messages that were accepted, according to the receipts. */
  readonly sent: string[];
  end: "ended" | "paused" | "crashed" | "refused" | "under way";
  why?: string;
};

/** The maximum number of steps; a simulation that needs more never ends. */
const MOST_STEPS = 30_000;
const MOST_LIVES = 12;
/** The reason of the person's pauses. */
export const PAUSE = "paused by the person";

export type Setting = Readonly<{ plan?: Plan; slots?: number; faults?: Faults }>;

/** Plays the simulation of a seed, from the first process that works on a run to the end of the run. */
export async function simulate(seed: number, setting: Setting = {}): Promise<Story> {
  const dice = createDice(seed);
  const time = createTime(dice);
  const faults = setting.faults ?? drawFaults(dice);
  const { plan, slots } = setting.plan ? { plan: setting.plan, slots: setting.slots ?? 4 } : drawPlan(seed, dice);
  let calm = false;
  const disk = createDisk(time, dice, () => (calm ? {} : faults.disk));
  const stage: Stage = {
    dice,
    time,
    modelFaults: () => faults.model,
    toolFaults: () => faults.tool,
    isClosed: () => faults.closed !== undefined && time.now() >= faults.closed.from && time.now() < faults.closed.to,
    deeds: [],
    thoughts: [],
    calls: { made: 0 },
  };
  const trace = createHash("sha256");
  const lives: LifeStory[] = [];
  const broken: string[] = [];
  let cancelled: Story["cancelled"];
  let paused: Story["paused"];
  let over = false;
  let failure: unknown;
  const crashes = [...faults.crashes];

  const watch = (story: LifeStory, life: Life): void => {
    const { number } = story;
    const { run } = life;
    story.past = life.past;
    const later = (ms: number | undefined, act: () => void): void => {
      if (ms !== undefined && number === 1) time.after(ms, () => story.end === "under way" && act(), number);
    };
    later(faults.cancelAt, () => {
      cancelled = { life: number, step: time.steps() };
      run.cancel("by the person");
    });
    later(faults.pauseAt, () => {
      if (cancelled) return;
      paused = { life: number, step: time.steps() };
      run.pause(PAUSE);
    });
    later(faults.cancelTaskAt, () => {
      const running = [...run.state.nodes.values()].filter(({ status }) => status === "running");
      if (running.length > 0) run.cancelTask(dice.pick(running).path, "by the person");
    });
    later(2_000 + dice.below(9_000), () => {
      const running = [...run.state.nodes.values()].filter(({ status }) => status === "running");
      if (running.length === 0) return;
      const text = `word ${dice.below(1_000_000)}`;
      void run.send(dice.pick(running).path, text).then(
        (taken) => taken && story.sent.push(text),
        () => {},
      );
    });
    run.then(
      () => {
        story.end = run.state.status === "paused" ? "paused" : "ended";
        for (const { life: of, tool, path, signal, over: done } of stage.deeds)
          if (of === number && !done && !signal.aborted) broken.push(`${tool} of ${path} goes on after the end`);
        for (const { life: of, signal, over: done } of stage.thoughts)
          if (of === number && !done && !signal.aborted) broken.push("a model goes on after the end");
        if (story.end === "paused") time.after(1_000 + dice.below(3_000), takeOver, 0);
        else over = true;
      },
      (error: unknown) => {
        story.end = "refused";
        story.why = messageOf(error);
        time.after(1_000 + dice.below(3_000), takeOver, 0);
      },
    );
  };
  const published = (story: LifeStory, run: () => Life["run"] | undefined, event: Event): void => {
    if (time.isOver(story.number)) return;
    story.published.push(event);
    trace.update(JSON.stringify(event));
    const busy = stage.thoughts.filter(({ life, over, signal }) => life === story.number && !over && !signal.aborted);
    if (busy.length > slots) broken.push(`${busy.length} models at work in ${slots} slots`);
    if (!isKept(event) || event.type !== "gate.opened" || event.seq <= story.past.length) return;
    const { path, call } = event;
    const answer = { approve: !dice.oneIn(4), always: dice.oneIn(4), text: "says the person" };
    time.after(dice.below(2_000), () => void run()?.answer(path, answer, call), story.number);
  };

  const start = (): void => {
    if (over || lives.length >= MOST_LIVES) return;
    const number = lives.length + 1;
    calm = number > 6;
    const story: LifeStory = {
      number,
      past: [],
      published: [],
      performed: [],
      sent: [],
      end: "under way",
    };
    lives.push(story);
    let life: Life | undefined;
    time.after(
      0,
      () => {
        begin({
          number,
          stage,
          disk: disk.for(number),
          plan,
          slots,
          ...(faults.budget && { budget: faults.budget }),
          parks: faults.closed !== undefined,
          clock: () => 1_800_000_000_000 + time.now() + (time.steps() > 60 ? (faults.clockJump ?? 0) : 0),
          permissions: number > 1 && faults.widens ? wider : allowed,
          duplicates: () => faults.duplicates,
          ...(number === 2 && faults.resumesOne !== undefined && { resumesOne: faults.resumesOne }),
          published: (event) => published(story, () => life?.run, event),
          performed: (key) => {
            story.performed.push(key);
            trace.update(key);
          },
        }).then(
          (begun) => {
            life = begun;
            if (begun) return watch(story, begun);
            story.end = "ended";
            over = true;
          },
          (error: unknown) => {
            story.end = "refused";
            story.why = messageOf(error);
            time.after(2_000, takeOver, 0);
          },
        );
      },
      number,
    );
  };

  /** Another process resumes the run, unless one is running it. */
  const takeOver = (): void => {
    if (!lives.some(({ end }) => end === "under way")) start();
  };

  const uninstall = time.install();
  try {
    start();
    while (!over) {
      if (time.steps() > MOST_STEPS) {
        broken.push("it never ends");
        break;
      }
      const newest = lives.at(-1)!;
      if (crashes.length > 0 && time.steps() >= crashes[0]!.step && newest.end === "under way") {
        const { power } = crashes.shift()!;
        for (const story of lives.filter(({ end }) => end === "under way")) {
          story.end = "crashed";
          disk.interrupt(story.number);
          time.end(story.number);
        }
        if (power) disk.cutPower();
        const soon = crashes[0];
        if (soon) crashes[0] = { ...soon, step: time.steps() + soon.step };
        time.after(5_000, takeOver, 0);
      }
      const began = newest.published.length > 0;
      if (faults.usurpedAt === time.steps() && lives.length === 1 && newest.end === "under way" && began) {
        if (dice.oneIn(2)) time.hold(newest.number, dice.below(5_000));
        time.after(0, () => start(), 0);
      }
      if (!(await time.step())) {
        if (over) break;
        broken.push(`it is stuck after ${time.steps()} steps`);
        break;
      }
    }
  } catch (error) {
    failure = error;
  } finally {
    uninstall();
  }
  if (failure !== undefined) broken.push(`the simulation broke: ${messageOf(failure)}`);
  const files = disk.files();
  const bytes = files.get(`${HOME}/runs/${RUN}/journal.jsonl`) ?? Buffer.alloc(0);
  let journal: readonly KeptEvent[] = [];
  try {
    journal = readRecords(bytes, RUN).events;
  } catch (error) {
    broken.push(messageOf(error));
  }
  trace.update(bytes);
  return {
    seed,
    plan,
    slots,
    faults,
    journal,
    hash: trace.digest("hex"),
    files,
    lives,
    deeds: stage.deeds,
    thoughts: stage.thoughts,
    steps: time.steps(),
    ...(cancelled && { cancelled }),
    ...(paused && { paused }),
    broken,
  };
}

const drawn = worlds();

/** A random plan whose tasks have random agents. */
function drawPlan(seed: number, dice: Dice): { plan: Plan; slots: number } {
  const [world] = fc.sample(drawn, { seed, numRuns: 1 });
  const { plan, slots } = world!;
  const cast = (node: Node): Node => {
    if (node.kind === "loop") return { ...node, body: { ...node.body, nodes: mapped(node.body.nodes, cast) } };
    if (node.kind !== "task") return node;
    return { ...node, task: { ...node.task, agent: dice.pick(agents).name } };
  };
  return { plan: { ...plan, nodes: mapped(plan.nodes, cast) }, slots };
}

const mapped = (nodes: Plan["nodes"], change: (node: Node) => Node): Plan["nodes"] =>
  Object.fromEntries(Object.entries(nodes).map(([id, node]) => [id, change(node)]));
