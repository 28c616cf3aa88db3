import type { QuotaLimits, RequestQuota } from "../core/model/request-quota.ts";
import type { Outcome } from "../core/outcome/outcome.ts";
import type { RunStore } from "../core/run/run-store.ts";
import type { Call, Engine, PerformContext, ReturnedChanges } from "../core/task/engine.ts";
import type { Job } from "../core/task/job.ts";
import type { Announcement } from "../core/task/placement.ts";
import type { ProviderHolds } from "../runtime/ledgers/provider-holds.ts";
import type { EngineOverview } from "./overview.ts";

/** An engine that several machines share: how its addresses look, and how it is opened. */
export type EngineKind = Readonly<{
  /** The beginnings of its addresses, as in `postgres:`. */
  protocols: readonly string[];
  /** What the engine is and what its address is, as words of a sentence; an address; and how to write one. */
  what: string;
  address: string;
  example: string;
  hint: string;
  /** The address without its secrets, for people. Throws if the address cannot be used. */
  shown(address: string): string;
  /** The secrets in an address, such as a password. */
  secrets(address: string): readonly string[];
  /** Loads the code of the engine. */
  load(): Promise<EngineCode>;
}>;

export type EngineCode = Readonly<{
  /** The versions of its protocol that workers of this program support. */
  protocols: readonly number[];
  /** Nothing is sent before the connection is used. */
  connect(address: string, parts: ConnectionParts): EngineConnection;
  /** Opens an engine for `subcrew engine`. */
  manage(address: string): EngineManagement;
}>;

/** The announcement of a worker; absent for processes that only coordinate runs. */
export type WorkerRole = Readonly<{ role: string; announcement: Announcement }>;

/**
 * The parameters of a connection. `local` is the store of this machine, for files that are needed only on this machine.
 */
export type ConnectionParts = Readonly<{
  local: Pick<RunStore, "keep" | "file" | "hasFile" | "local" | "remove">;
  worker?: WorkerRole;
  /** The environment variables with the address and the keys of the store for large results. */
  env?: Readonly<Record<string, string | undefined>>;
}>;

/** A connection of this process to an engine: where its runs are stored, and the limits that all processes share. */
export type EngineConnection = Readonly<{
  store: RunStore;
  holds: ProviderHolds;
  quota: RequestQuota;
  /** Lets workers execute the tasks of runs of this process; opened once. */
  coordination(): Promise<Coordination>;
  /** Starts a worker, which takes tasks of the engine. A process can do this only once. */
  startWorker(parts: WorkerParts): Promise<Worker>;
  orphans: OrphanedRuns;
  /** What works less well than it could, for the person who started the worker. */
  warning(): Promise<string | undefined>;
  close(): Promise<void>;
}>;

/** Coordinates runs whose tasks are executed on many machines; one per process. */
export type Coordination = Readonly<{ engine(parts: RunEngineParts): Engine; close(): Promise<void> }>;

/** The parameters of the engine for one run. */
export type RunEngineParts = Readonly<{
  /**
   * Converts a task to a job that any worker with its workspace and requirements can execute, or returns a failed
   * outcome that says why it cannot.
   */
  job(call: Call, context: PerformContext): Promise<Job | Outcome>;
  journal: Engine["journal"];
  /** Sends the files of the workspace to workers that do not have them. */
  workspace?(call: Call): NonNullable<PerformContext["workspace"]>;
  /** Applies the changes that a worker made in a copy of the workspace. */
  bring?(call: Call, context: PerformContext, outcome: Outcome): Promise<Outcome>;
  /** The changes that subagents have returned to the files of a task. */
  returned?(call: Call): readonly ReturnedChanges[];
  /** Access to the recording that the run writes or replays. */
  tape?: PerformContext["tape"];
  /** Runs with a lower number are served first. */
  priority?: number;
  placementTimeoutMs?: number;
}>;

/** A worker: takes tasks from a queue and executes them until it is drained. */
export type Worker = Readonly<{
  id: string;
  class: string;
  /** The tasks that the worker is executing. */
  working(): readonly string[];
  /**
   * Takes no more tasks. Each running task ends or is given back before its next model turn, at the latest after the
   * grace period.
   */
  drain(graceMs: number): Promise<void>;
  /** Calls back when a person drains the worker with `subcrew engine drain`. */
  onDrain(listener: () => void): void;
}>;

export type WorkerParts = Readonly<{
  announcement: Announcement;
  pollMs: number;
  /** Executes a job with the keys, tools and permissions of this machine. It never throws. */
  perform(job: Job, context: PerformContext): Promise<Outcome>;
}>;

/** The runs and tasks of processes that died. */
export type OrphanedRuns = Readonly<{
  /** Returns the tasks that dead workers had taken. */
  returnTasks(): Promise<void>;
  /** The runs whose process died, except these. */
  list(except: readonly string[]): Promise<readonly string[]>;
  /** Makes this process the next owner of a run that it opens. */
  takeOver(run: string): void;
  /** Lets another process continue a run of this process. */
  handOver(run: string): void;
  /** Releases a run that has ended or is paused, if its process died before it did. */
  release(run: string, how: "ended" | "paused"): Promise<void>;
}>;

/** What `subcrew engine` can do with an engine. */
export type EngineManagement = Readonly<{
  overview(): Promise<EngineOverview>;
  /** Creates what the engine needs, or brings it up to date. `skipped`: why roles were not created. */
  migrate(): Promise<
    Readonly<{ steps: readonly string[]; applied: number; roles: readonly string[]; skipped?: string }>
  >;
  /** Limits on model requests by name. */
  limits(): Promise<ReadonlyMap<string, QuotaLimits>>;
  setLimits(name: string, limits: QuotaLimits | undefined): Promise<void>;
  /** The workers whose names begin with a word. */
  workers(word: string): Promise<readonly string[]>;
  /** Tells a worker to take no more tasks. */
  drain(worker: string): Promise<void>;
  close(): Promise<void>;
}>;
