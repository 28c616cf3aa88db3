import { defined } from "../../core/text/defined.ts";
import { recorderFor } from "../changes/recorder.ts";
import { createIsolate } from "../git/worktree-task.ts";
import type { Feature } from "./feature.ts";

export const worktreesFeature: Feature = {
  name: "worktrees",
  does: "lets isolated tasks work in worktrees of their own, and applies their changes",
  work: (world, { run, store, linger }) => {
    const { cwd, env } = world.settings;
    const home = env["HOME"];
    return {
      ...world,
      isolate: createIsolate({
        cwd,
        home,
        worktrees: store.local(run, "worktrees"),
        patch: (path) => store.file(run, path, { kind: "patch" }),
        ...defined({ recorder: recorderFor(store, run, home) }),
        linger,
      }),
    };
  },
};
