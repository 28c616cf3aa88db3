import { createReuse } from "../resume/reuse-results.ts";
import type { Feature } from "./feature.ts";

export const reusedResultsFeature: Feature = {
  name: "reused results",
  does: "gives a task the result of an earlier run whose agent, input, model, tools and files are the same",
  work: (world, { store, reuse = false }) => ({
    ...world,
    reuse: createReuse(store, { always: reuse, redact: world.redactor.text, clock: world.clock }),
  }),
};
