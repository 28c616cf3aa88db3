import { createLeases, type Leases } from "../execute/leases.ts";
import type { Feature } from "./feature.ts";

export const fileLeasesFeature: Feature = {
  name: "file leases",
  does: "lets a task wait until no task of this or another run may write the files that it declares to write",
  open: ({ id, store, workspace, parent, above }) => {
    if (!store || workspace === undefined) return {};
    const tasks = [...(parent?.above ?? []), ...(above ? [above.task, ...(above.above ?? [])] : [])];
    const leases: Leases = createLeases(async (lease, options) =>
      store.lease({ ...lease, workspace, run: id, above: tasks }, options),
    );
    return { scope: () => ({ leases }), close: () => leases.over() };
  },
};
