import { ownRunners } from "../vocabulary/runner-name.ts";
import type { Job, JobNeeds, JobWorkspace } from "./job.ts";

/** The capabilities of a worker. Workers with the same capabilities form a class and share a queue. */
export type Announcement = Readonly<{
  /** The versions of the worker protocol that the worker supports. */
  protocols: readonly number[];
  platform: string;
  runners: readonly string[];
  /** The providers that the worker has keys for, or that need none. */
  providers: readonly string[];
  /** Names of models that the worker's settings define, in addition to all models of its providers. */
  models: readonly string[];
  /** True: the worker has a default model for tasks that name no model. */
  hasDefaultModel: boolean;
  tools: readonly string[];
  /** The MCP servers in the worker's settings. */
  servers: readonly string[];
  /** The workspaces that the worker has, by id; `*`: it creates an empty folder for any other workspace. */
  workspaces: readonly string[];
  /**
   * The repositories that the worker has clones of, by the names that all clones share; `*`: it fetches other
   * repositories.
   */
  repositories: readonly string[];
  /** The sandbox level of the worker; `none`: it has no sandbox. */
  sandbox: string;
  slots: number;
}>;

/** A job to be placed on a worker: its needs, and the protocol version of the process that coordinates the run. */
export type PlacementWish = Pick<Job, "needs" | "workspace"> & Readonly<{ protocol: number }>;

/** Why a worker cannot serve a job, in words; `undefined`: the worker can. */
export function placementMisfit(wish: PlacementWish, worker: Announcement): string | undefined {
  const { needs, workspace, protocol } = wish;
  if (!worker.protocols.includes(protocol))
    return `protocol ${protocol} (the worker supports ${worker.protocols.join(", ")})`;
  if (!worker.runners.includes(needs.runner) && !ownRunners.some((own) => own === needs.runner))
    return `the runner "${needs.runner}"`;
  if (needs.sandbox && worker.sandbox === "none") return "a sandbox for commands";
  const model = modelMisfit(needs, worker);
  if (model !== undefined) return model;
  const tool = needs.tools.find((name) => !worker.tools.includes(name));
  if (tool !== undefined) return `the tool "${tool}"`;
  const server = needs.servers?.find((name) => !worker.servers.includes(name));
  if (server !== undefined) return `the MCP server "${server}"`;
  return hasWorkspace(workspace, worker) ? undefined : `the workspace ${workspace.id}`;
}

/**
 * Checks models: a name with a provider needs that provider; a name without a provider, or no name, needs any provider.
 * Built-in models are everywhere.
 */
function modelMisfit({ models = [], offline }: JobNeeds, worker: Announcement): string | undefined {
  if (models.length === 0) return worker.hasDefaultModel || offline ? undefined : "a key of any model provider";
  const fits = models.some((name) => {
    if (BUILT_IN.test(name) || worker.models.includes(name)) return true;
    const cut = name.indexOf("/");
    return cut > 0 ? worker.providers.includes(name.slice(0, cut)) : worker.providers.length > 0;
  });
  return fits ? undefined : `a key for the model ${models.map((name) => `"${name}"`).join(" or ")}`;
}

const BUILT_IN = /^(?:offline$|scripted:)/;

const hasWorkspace = ({ id, repositories: wanted = [], isCopied }: JobWorkspace, worker: Announcement): boolean => {
  const { workspaces } = worker;
  if (isCopied) return hasClone(wanted, worker);
  if (workspaces.includes(id) || workspaces.includes("*")) return true;
  return hasClone(wanted, worker);
};

const hasClone = (wanted: readonly string[], { repositories }: Announcement): boolean =>
  wanted.length > 0 && (repositories.includes("*") || wanted.some((name) => repositories.includes(name)));

/**
 * Orders workers by how they get the task's files: first workers with the folder itself, then workers with a clone,
 * then workers that start with an empty folder.
 */
function distance({ id, repositories = [] }: JobWorkspace, { announcement }: WorkerClass): number {
  if (announcement.workspaces.includes(id)) return 0;
  return repositories.some((name) => announcement.repositories.includes(name)) ? 1 : 2;
}

/** A class of workers: the living workers with the same capabilities, and their load. */
export type WorkerClass = Readonly<{ class: string; announcement: Announcement; workers: number; load: number }>;

/** The class of workers that can serve the job and has the most free capacity, or why no class can serve it. */
export function choosePlace(
  wish: PlacementWish,
  classes: readonly WorkerClass[],
): Readonly<{ class: string; protocols: readonly number[] }> | Readonly<{ why: string }> {
  if (classes.length === 0) return { why: "no worker is connected" };
  const judged = classes.map((one) => ({ ...one, lacks: placementMisfit(wish, one.announcement) }));
  const [best] = judged
    .filter(({ lacks }) => lacks === undefined)
    .toSorted(
      (a, b) =>
        offlineOnly(a) - offlineOnly(b) ||
        distance(wish.workspace, a) - distance(wish.workspace, b) ||
        fullness(a) - fullness(b) ||
        (a.class < b.class ? -1 : 1),
    );
  if (best) return { class: best.class, protocols: best.announcement.protocols };
  const lacking = [...new Set(judged.map(({ lacks }) => lacks))];
  return { why: `no worker has ${lacking.join(", or ")}` };
}

const fullness = ({ load, workers, announcement }: WorkerClass): number => load / (workers * announcement.slots);

/** Used to sort workers: workers that only have the offline model come last. */
const offlineOnly = ({ announcement }: WorkerClass): number => (announcement.hasDefaultModel ? 0 : 1);
