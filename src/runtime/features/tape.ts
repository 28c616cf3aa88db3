import type { Feature } from "./feature.ts";

export const tapeFeature: Feature = {
  name: "tape",
  does: "records the calls of tools, servers and other agent programs, or answers them from a recording",
  work: (world, { deck }) => {
    if (!deck) return world;
    return {
      ...world,
      runner: deck.runner(world.runner),
      acceptance: deck.acceptance,
      ...(world.peers && { peers: deck.peers(world.peers) }),
    };
  },
};
