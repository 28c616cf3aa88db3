import { CrewError } from "../core/schema/error.ts";
import type { Store } from "../runtime/store/store.ts";

/** The store of a crew that keeps its runs; one that does not cannot be asked about them. */
export function needed(store: Store | undefined): Store {
  if (store) return store;
  throw new CrewError(
    "UNKNOWN_RUN",
    "This crew does not store runs, so none can be resumed.",
    "Create it with a `home` folder.",
  );
}
