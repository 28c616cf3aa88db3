import type { Model } from "../../core/model/model.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";

/** A model that is loaded on first use. */
export function lazily(load: () => Promise<Model>): Model {
  let loaded: Model | undefined;
  let loading: Promise<Model> | undefined;
  const first: Model = async function* (request, signal) {
    try {
      loading ??= load();
      loaded = await loading;
    } catch (error) {
      loading = undefined;
      const hint = isCrewError(error) ? error.hint : "Reinstall the package.";
      const message = `The model could not be loaded: ${messageOf(error)}`;
      yield { type: "error", fault: { code: "MODEL_UNKNOWN", message, hint, retryable: false } };
      return;
    }
    yield* loaded(request, signal);
  };
  return (request, signal) => (loaded ?? first)(request, signal);
}
