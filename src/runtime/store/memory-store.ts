import type { KeptEvent } from "../../core/run/event.ts";
import type { Receipt, RunCommand } from "../../core/run/run-command.ts";
import type {
  IndexedResult,
  RunAgents,
  RunCommands,
  RunDocuments,
  RunOutputs,
  RunOwnership,
  RunRecords,
  RunStore,
} from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { pause } from "../async/cancel.ts";
import { outputInEvents } from "../../core/run/output-in-events.ts";
import { artifactOf, checkedText } from "../disk/artifact-of.ts";
import { createWorkspaceLeases, type LeaseEntry } from "../leases/workspace-leases.ts";

/**
 * How many ended runs are remembered; older runs are forgotten, so that a long-lived process does not grow without end.
 */
const MOST_ENDED = 100;

/**
 * How long a reader waits for a change before it checks again: the condition that ends its wait may depend on something
 * outside of the store.
 */
const LOOK_EVERY_MS = 250;
const IDLE_MS = 60_000;

type Posted = { readonly command: RunCommand; receipt?: Receipt };

type MemoryRun = {
  readonly events: KeptEvent[];
  changedAt: number;
  owned: boolean;
  announced: number;
  posted: Posted[];
  readonly texts: Map<string, string>;
  /** Controllers of readers that wait; they are aborted at the next change. */
  readonly bells: Set<AbortController>;
};

/** Runs in the memory of this process, for crews without a home folder and for tests. They end with the process. */
export function createMemoryStore(clock: () => number = Date.now): RunStore {
  const runs = new MemoryRuns(clock);
  let leases: readonly LeaseEntry[] = [];
  return {
    ...recordsIn(runs),
    ...ownershipIn(runs),
    ...commandsIn(runs),
    ...textsIn(runs),
    ...agentsInMemory(),
    place: () => "the memory of this process",
    lease: createWorkspaceLeases<LeaseEntry>({
      read: async () => leases,
      change: async (make) => void (leases = make(leases)),
      sign: async (entry) => entry,
    }),
    reusable: async (key) =>
      [...runs.all]
        .flatMap(([run, { events }]) => events.flatMap((event): IndexedResult[] => resultOf(event, run, key)))
        .toSorted((one, other) => one.at - other.at),
    remove: async (run) => void runs.all.delete(run),
    sweep: async () => {},
  };
}

/** The runs that are remembered. */
class MemoryRuns {
  readonly all = new Map<string, MemoryRun>();
  readonly clock: () => number;

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** The run with this id, which is created if it is missing. */
  made(run: string): MemoryRun {
    const known = this.all.get(run);
    if (known) return known;
    const fresh: MemoryRun = {
      events: [],
      changedAt: this.clock(),
      owned: false,
      announced: 0,
      posted: [],
      texts: new Map(),
      bells: new Set(),
    };
    this.all.set(run, fresh);
    return fresh;
  }

  /** The run with this id; throws for a run without records. */
  existing(run: string): MemoryRun {
    const known = this.all.get(run);
    if (known && known.events.length > 0) return known;
    throw new CrewError(
      "UNKNOWN_RUN",
      `The run "${run}" does not exist.`,
      "A run without a home folder exists only until its process ends.",
    );
  }

  after(run: string, seq: number): KeptEvent[] {
    return this.existing(run).events.filter((event) => event.seq > seq);
  }

  /** Forgets the oldest of the ended runs. */
  forget(): void {
    const ended = [...this.all].filter(([, { events, owned }]) => !owned && events.at(-1)?.type === "run.ended");
    for (const [run] of ended.slice(0, -MOST_ENDED)) this.all.delete(run);
  }
}

function recordsIn(runs: MemoryRuns): Omit<RunRecords, "place"> {
  return {
    list: async () =>
      [...runs.all]
        .reverse()
        .toSorted(([, a], [, b]) => b.changedAt - a.changedAt)
        .map(([run]) => run),
    first: async (run) => runs.all.get(run)?.events[0],
    last: async (run) => runs.all.get(run)?.events.at(-1),
    read: async function* (run) {
      yield { events: runs.after(run, 0), damage: [], tornBytes: 0 };
    },
    readWhole: async (run) => ({ events: [...runs.existing(run).events], problems: [] }),
    follow: async function* (run, { after = 0, until, signal }) {
      let seq = after;
      for (let over = false; !signal.aborted; ) {
        const fresh = runs.after(run, seq);
        for (const event of fresh) {
          seq = event.seq;
          yield event;
        }
        if (fresh.length > 0) continue;
        if (over) return;
        over = await until(runs.all.get(run)?.events.at(-1)); // evaluated before the last check of the events, so that no event is missed
        if (!over) await changed(runs.made(run), LOOK_EVERY_MS, signal);
      }
    },
    measure: async (run) => {
      const { events, texts, changedAt } = runs.existing(run);
      const bytes = [JSON.stringify(events), ...texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      return { bytes, changedAt };
    },
  };
}

function ownershipIn(runs: MemoryRuns): RunOwnership {
  return {
    open: async (run, { kept }) => {
      const entry = runs.made(run);
      if (entry.owned)
        throw new CrewError(
          "RUN_BUSY",
          `"${run}" is already running.`,
          "Wait for the run to end, or stop it, then try again.",
        );
      entry.owned = true;
      return {
        append: (event) => {
          entry.events.push(event);
          entry.changedAt = runs.clock();
          ring(entry);
          kept([event]);
        },
        durable: () => Promise.resolve(),
        problems: [],
        read: () => Promise.resolve(entry.events),
        close: async () => {
          entry.owned = false;
          ring(entry);
          runs.forget();
        },
      };
    },
    owner: async (run) => (runs.all.get(run)?.owned ? { pid: process.pid } : undefined),
    announce: async (run) => {
      const entry = runs.made(run);
      entry.announced += 1;
      return async () => {
        entry.announced -= 1;
        if (entry.announced === 0 && entry.events.length === 0 && entry.texts.size === 0) runs.all.delete(run);
      };
    },
    isAnnounced: async (run) => (runs.all.get(run)?.announced ?? 0) > 0,
  };
}

function commandsIn(runs: MemoryRuns): RunCommands {
  return {
    post: async (run, command, { waitMs, signal, ended }) => {
      const entry = runs.made(run);
      const posted: Posted = { command };
      entry.posted.push(posted);
      ring(entry);
      for (const until = performance.now() + waitMs; ; ) {
        const over = await ended();
        if (posted.receipt) return posted.receipt;
        if (over) {
          entry.posted = entry.posted.filter((each) => each !== posted);
          return over;
        }
        const left = until - performance.now();
        if (left <= 0 || signal.aborted) return undefined;
        await changed(entry, Math.min(left, LOOK_EVERY_MS), signal);
      }
    },
    waiting: async (run) => (runs.all.get(run)?.posted ?? []).map(({ command }) => command),
    serve: async (run, handle, signal) => {
      const entry = runs.made(run);
      do {
        for (const posted of [...entry.posted]) {
          const receipt = await handle(posted.command, signal);
          if (!receipt) continue;
          posted.receipt = receipt;
          entry.posted = entry.posted.filter((each) => each !== posted);
          ring(entry);
        }
        // A command that cannot be handled yet is tried again soon.
        await changed(entry, entry.posted.length > 0 ? LOOK_EVERY_MS : IDLE_MS, signal);
      } while (!signal.aborted);
    },
  };
}

/** Outputs of tasks and documents of runs. */
function textsIn(runs: MemoryRuns): RunOutputs & RunDocuments {
  return {
    keep: async (run, path, text, kind = "output") => {
      const whole = text.endsWith("\n") ? text : `${text}\n`;
      runs.made(run).texts.set(`${kind} ${path}`, whole);
      return artifactOf(whole);
    },
    recorded: async (_run, _path, text) => artifactOf(text.endsWith("\n") ? text : `${text}\n`),
    output: async (run, path, text) => {
      const { texts, events } = runs.all.get(run) ?? {};
      const kept = texts?.get(`${text?.kind ?? "output"} ${path}`);
      return text ? checkedText(kept, text.hash) : (kept ?? outputInEvents(events ?? [], path));
    },
    file: async () => undefined,
    share: async () => {},
    local: () => undefined,
    document: async (run, name) => runs.all.get(run)?.texts.get(`document ${name}`),
    setDocument: async (run, name, text) => void runs.made(run).texts.set(`document ${name}`, text),
  };
}

function agentsInMemory(): RunAgents {
  const agents = new Map<string, string>();
  return {
    keepAgents: async (_run, texts) => texts.forEach((text, hash) => void agents.set(hash, text)),
    agentTexts: async (hashes) =>
      new Map(
        hashes.flatMap((hash) => {
          const text = agents.get(hash);
          return text === undefined ? [] : [[hash, text] as const];
        }),
      ),
  };
}

function resultOf(event: KeptEvent, run: string, key: string): IndexedResult[] {
  if (event.type !== "agent.resolved" || event.reuse !== key) return [];
  return [{ key, run, path: event.path, at: event.at }];
}

function ring({ bells }: MemoryRun): void {
  for (const bell of bells) bell.abort();
  bells.clear();
}

/** Waits for a change of a run, at most `ms` milliseconds. */
async function changed({ bells }: MemoryRun, ms: number, signal: AbortSignal): Promise<void> {
  const bell = new AbortController();
  bells.add(bell);
  await pause(ms, AbortSignal.any([bell.signal, signal]));
  bells.delete(bell);
}
