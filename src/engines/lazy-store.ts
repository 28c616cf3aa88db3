import type { RunStore } from "../core/run/run-store.ts";

/** A store whose code is loaded with its first use, so that commands without an engine do not have to load it. */
export function lazyStore(load: () => Promise<RunStore>, now: Pick<RunStore, "place" | "local">): RunStore {
  let loaded: Promise<RunStore> | undefined;
  const store = (): Promise<RunStore> => (loaded ??= load());
  return {
    ...now,
    list: async () => (await store()).list(),
    first: async (run) => (await store()).first(run),
    last: async (run) => (await store()).last(run),
    read: async function* (run) {
      yield* (await store()).read(run);
    },
    readWhole: async (run) => (await store()).readWhole(run),
    follow: async function* (run, options) {
      yield* (await store()).follow(run, options);
    },
    measure: async (run) => (await store()).measure(run),
    open: async (run, listener, options) => (await store()).open(run, listener, options),
    owner: async (run) => (await store()).owner(run),
    disown: async (run) => (await (await store()).disown?.(run)) ?? false,
    announce: async (run) => (await store()).announce(run),
    isAnnounced: async (run) => (await store()).isAnnounced(run),
    post: async (run, command, options) => (await store()).post(run, command, options),
    waiting: async (run) => (await store()).waiting(run),
    serve: async (run, handle, signal) => (await store()).serve(run, handle, signal),
    keep: async (run, path, text, kind) => (await store()).keep(run, path, text, kind),
    output: async (run, path, text) => (await store()).output(run, path, text),
    recorded: async (run, path, text) => (await store()).recorded(run, path, text),
    file: async (run, path, more) => (await store()).file(run, path, more),
    share: async (run, path, kind) => (await store()).share(run, path, kind),
    document: async (run, name) => (await store()).document(run, name),
    setDocument: async (run, name, text) => (await store()).setDocument(run, name, text),
    keepAgents: async (run, texts) => (await store()).keepAgents(run, texts),
    agentTexts: async (hashes) => (await store()).agentTexts(hashes),
    reusable: async (key) => (await store()).reusable(key),
    addReusable: async (entry) => (await store()).addReusable?.(entry),
    lease: async (wish, options) => (await store()).lease(wish, options),
    remove: async (run) => (await store()).remove(run),
    sweep: async () => (await store()).sweep(),
  };
}
