import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { RemoteUpdate } from "../core/net/a2a.ts";
import type { RunStore } from "../core/run/run-store.ts";
import { createGuardedFetch, type NetworkRules } from "../runtime/network/guarded-fetch.ts";
import { checkHeaders } from "../runtime/network/web-headers.ts";
import { judgeUrl, parseAllowedHosts } from "../runtime/network/web-target.ts";
import { taskError } from "./task-error.ts";

const config = z.strictObject({
  id: z.string().min(1).max(200),
  url: z.string().min(1).max(4_000),
  token: z.string().max(4_000).optional(),
  authentication: z.strictObject({ scheme: z.string().min(1).max(100), credentials: z.string().max(4_000) }).optional(),
  /** The protocol version of the request, also used for notifications. */
  version: z.enum(["1.0", "0.3"]),
});

/** A push configuration of a task. */
export type PushConfig = Readonly<z.infer<typeof config>>;

/** How an update is written in a version of the protocol. */
export type WritePush = (
  update: RemoteUpdate,
  version: PushConfig["version"],
) => Promise<Readonly<{ body: string; contentType: string }>>;

/** Push configurations of tasks, kept with their runs, so that they survive a restart. */
export type Push = Readonly<{
  /** Throws when the address is one that may not be asked. */
  set(run: string, wanted: Omit<PushConfig, "id"> & { id?: string }): Promise<PushConfig>;
  list(run: string): Promise<readonly PushConfig[]>;
  remove(run: string, id: string): Promise<void>;
  /** Sends an update to all push addresses, in order. Failed deliveries are not retried. */
  tell(run: string, update: RemoteUpdate): Promise<void>;
  /** Settles when all deliveries have ended. */
  quiet(): Promise<void>;
}>;

const DOCUMENT = "a2a-push";
const MOST = 10;
const TIMEOUT_MS = 10_000;

export function createPush({
  kept,
  network = {},
  write,
  onError,
}: {
  kept: Pick<RunStore, "document" | "setDocument">;
  network?: NetworkRules;
  write: WritePush;
  onError(error: unknown): void;
}): Push {
  const fetch = createGuardedFetch(network, { timeoutMs: TIMEOUT_MS });
  const allowed = parseAllowedHosts(network.allowHosts ?? []);
  const queues = new Map<string, Promise<unknown>>();
  /** Serialised per task, so that changes are not lost and updates arrive in order. */
  const inTurn = <T>(run: string, work: () => Promise<T>): Promise<T> => {
    const next = (queues.get(run) ?? Promise.resolve()).then(work);
    const quiet = next.catch(() => {});
    queues.set(run, quiet);
    void quiet.then(() => queues.get(run) === quiet && queues.delete(run));
    return next;
  };
  const list = async (run: string): Promise<PushConfig[]> => {
    try {
      return z.array(config).parse(JSON.parse((await kept.document(run, DOCUMENT)) ?? "[]"));
    } catch {
      return []; // no subscription yet
    }
  };
  const save = (run: string, all: readonly PushConfig[]): Promise<void> =>
    kept.setDocument(run, DOCUMENT, JSON.stringify(all));
  const post = async (to: PushConfig, update: RemoteUpdate): Promise<void> => {
    const { body, contentType } = await write(update, to.version);
    const { status } = await fetch(
      { url: to.url, method: "POST", headers: { "content-type": contentType, ...headersOf(to) }, body },
      new AbortController().signal,
    );
    if (status >= 400) throw new Error(`a push address answered with ${status}`);
  };
  return {
    list,
    set: (run, wanted) =>
      inTurn(run, async () => {
        const { id = randomUUID(), ...rest } = wanted;
        const made = config.safeParse({ ...rest, id });
        if (!made.success) throw taskError("bad-request", "The push configuration is not valid.");
        try {
          judgeUrl(made.data.url, allowed);
          checkHeaders(headersOf(made.data));
        } catch (refused) {
          throw taskError("bad-address", "This server may not send requests to the push address.", { cause: refused });
        }
        const others = (await list(run)).filter((each) => each.id !== id);
        if (others.length >= MOST) throw taskError("bad-request", `A task can have at most ${MOST} push addresses.`);
        await save(run, [...others, made.data]);
        return made.data;
      }),
    remove: (run, id) =>
      inTurn(run, async () => {
        const all = await list(run);
        if (!all.some((each) => each.id === id)) throw taskError("not-found", "There is no such push configuration.");
        await save(
          run,
          all.filter((each) => each.id !== id),
        );
      }),
    tell: (run, update) =>
      inTurn(run, async () => {
        for (const to of await list(run)) await post(to, update).catch(onError);
      }),
    quiet: async () => {
      while (queues.size > 0) await Promise.all(queues.values());
    },
  };
}

/** Authentication headers for the receiver. */
function headersOf({ token, authentication }: Pick<PushConfig, "token" | "authentication">): Record<string, string> {
  return {
    ...(token && { "x-a2a-notification-token": token }),
    ...(authentication && { authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
}
