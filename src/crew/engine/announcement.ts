import type { Announcement } from "../../core/task/placement.ts";
import { overviewOf } from "../../models/registry/overview.ts";
import { modelsOfTiers } from "../../models/registry/tier-models.ts";
import type { CrewSetup } from "../outfit/setup.ts";
import { createOutfit } from "../outfit/outfit.ts";
import { offeredRunners } from "../../runners/offered-runners.ts";
import { workspaceOf } from "../../runtime/files/workspace-of.ts";
import { repositoryNames } from "../../runtime/git/shared-workspace.ts";
import { loop } from "../../runtime/loop/loop.ts";

/** The folders whose tasks a worker accepts, and whether it creates empty folders for other tasks. */
export type ServedPlaces = Readonly<{
  folders: readonly string[];
  scratch: boolean;
  /** True: the worker fetches repositories that it has no clone of. */
  fetch: boolean;
  /** True: the worker's folders are shared with other machines, such as on a network drive. */
  shared: boolean;
  slots: number;
  protocols: readonly number[];
}>;

/** The capabilities of this machine, by name; keys and programs are not sent. */
export async function announcementOf(setup: CrewSetup, places: ServedPlaces): Promise<Announcement> {
  const outfit = createOutfit(setup);
  const { models } = outfit;
  const nobody = { find: () => undefined, names: () => [] };
  const [world, access] = await Promise.all([outfit.worldFor(nobody, loop), outfit.access()]);
  await world.peers?.end();
  const { candidates, lastResort } = models.look([], "call");
  const folders = await Promise.all(places.folders.map(workspaceOf));
  return {
    protocols: places.protocols,
    platform: process.platform,
    runners: offeredRunners(setup.env["PATH"]),
    providers: overviewOf(models).providers.flatMap(({ name, usable }) => (usable ? [name] : [])),
    models: [...new Set([setup.model ?? [], Object.values(modelsOfTiers(setup))].flat(2))].toSorted(byText),
    hasDefaultModel: candidates.length > 0 && lastResort !== true,
    tools: [...world.tools.keys()].toSorted(),
    servers: Object.keys(setup.mcpServers ?? {}).toSorted(),
    workspaces: [...folders.map(({ id }) => id), ...(places.scratch ? ["*"] : [])],
    repositories: [
      ...new Set(
        (await Promise.all(places.folders.map((folder) => repositoryNames(folder, setup.env["HOME"])))).flat(),
      ),
      ...(places.fetch ? ["*"] : []),
    ],
    sandbox: (await access.sandbox()).level,
    slots: places.slots,
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
