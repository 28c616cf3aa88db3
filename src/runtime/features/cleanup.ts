import type { Feature } from "./feature.ts";

export const cleanupFeature: Feature = {
  name: "cleanup",
  does: "waits until the commands, servers and worktrees of the tasks are gone",
  open: ({ gone }) => ({ close: () => gone?.() }),
};
