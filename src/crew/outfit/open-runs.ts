import { join } from "node:path";
import type { RequestQuota } from "../../core/model/request-quota.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { EngineConnection, WorkerRole } from "../../engines/engine-kind.ts";
import { lazyStore } from "../../engines/lazy-store.ts";
import { engineAt } from "../../engines/table.ts";
import { createFolderStore } from "../../runtime/store/folder-store.ts";
import { createMemoryStore } from "../../runtime/store/memory-store.ts";
import { openProviderHolds, type ProviderHolds } from "../../runtime/ledgers/provider-holds.ts";
import { type CrewSetup, homeOf } from "./setup.ts";

/** The process's existing connection to the engine; absent: a connection is opened on first use. */
export type SharedEngine = Readonly<{ connection?: EngineConnection }>;

/** Where the runs of a crew are kept. */
export type OpenRuns = Readonly<{
  store: RunStore;
  /** Connects to the engine (the database that stores the runs); absent: tasks are executed in this process. */
  connection?(): Promise<EngineConnection>;
}>;

/** The store of a crew's runs. */
export function openStore(setup: Pick<CrewSetup, "home" | "env" | "engine">, clock: () => number = Date.now): RunStore {
  return openRuns(setup, clock).store;
}

/** Opens the store of runs, and the engine if it stores the runs. The engine's code is loaded on first use. */
export function openRuns(
  setup: Pick<CrewSetup, "home" | "env" | "engine">,
  clock: () => number,
  shared?: EngineConnection,
): OpenRuns {
  const { engine } = setup;
  if (engine !== undefined && shared) return { store: shared.store, connection: async () => shared };
  const home = setup.home === false ? undefined : homeOf(setup);
  if (engine === undefined) return { store: home === undefined ? createMemoryStore(clock) : createFolderStore(home) };
  const local = besideEngine(setup, clock);
  const kind = engineAt(engine);
  const shown = kind.shown(engine);
  let connected: Promise<EngineConnection> | undefined;
  const connection = (): Promise<EngineConnection> =>
    (connected ??= kind.load().then(({ connect }) => connect(engine, { local, env: setup.env })));
  const store = lazyStore(async () => (await connection()).store, {
    place: (run) => `${shown} (${run})`,
    local: local.local,
  });
  return { store, connection };
}

/** The local files of runs whose records are in the engine's database. */
function besideEngine(setup: Pick<CrewSetup, "home" | "env">, clock: () => number): RunStore {
  return setup.home === false ? createMemoryStore(clock) : createFolderStore(join(homeOf(setup), "engine"));
}

/** Connects to the engine that a setup names, as a worker. */
export async function connectWorker(
  setup: Pick<CrewSetup, "home" | "env"> & Readonly<{ engine: string }>,
  worker: WorkerRole,
): Promise<EngineConnection> {
  const { connect } = await engineAt(setup.engine).load();
  return connect(setup.engine, { local: besideEngine(setup, Date.now), worker, env: setup.env });
}

/** Limits on model requests, and the API keys that a provider refused. All processes of an engine share both. */
export function openLimits(
  setup: Pick<CrewSetup, "home" | "env">,
  connection: OpenRuns["connection"],
): Readonly<{ holds: ProviderHolds; quota?: RequestQuota }> {
  if (!connection) return { holds: openProviderHolds(setup.home === false ? undefined : join(homeOf(setup), "holds")) };
  const holds = async (): Promise<ProviderHolds> => (await connection()).holds;
  return {
    holds: {
      look: async (key) => (await holds()).look(key),
      lookLater: async (key) => (await holds()).lookLater(key),
      put: async (key, change) => (await holds()).put(key, change),
      lift: async (key) => (await holds()).lift(key),
      claimProbe: async (key) => (await holds()).claimProbe(key),
    },
    quota: { enter: async (request, options) => (await connection()).quota.enter(request, options) },
  };
}
