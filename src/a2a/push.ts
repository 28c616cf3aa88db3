import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { readRegularText } from "../runtime/disk/regular-file.ts";
import { z } from "zod";
import type { RemoteUpdate } from "../core/net/a2a.ts";
import { writeAtomic } from "../runtime/disk/write-atomic.ts";
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

/** Push configurations of tasks, stored in the run folder, so that they survive a restart. */
export type Push = Readonly<{
  /** Throws when the address is one that may not be asked. */
  set(folder: string, wanted: Omit<PushConfig, "id"> & { id?: string }): Promise<PushConfig>;
  list(folder: string): Promise<readonly PushConfig[]>;
  remove(folder: string, id: string): Promise<void>;
  /** Sends an update to all push addresses, in order. Failed deliveries are not retried. */
  tell(folder: string, update: RemoteUpdate): Promise<void>;
  /** Settles when all deliveries have ended. */
  quiet(): Promise<void>;
}>;

const FILE = "a2a-push.json";
const MOST = 10;
const TIMEOUT_MS = 10_000;

export function createPush({
  network = {},
  write,
  onError,
}: {
  network?: NetworkRules;
  write: WritePush;
  onError(error: unknown): void;
}): Push {
  const fetch = createGuardedFetch(network, { timeoutMs: TIMEOUT_MS });
  const allowed = parseAllowedHosts(network.allowHosts ?? []);
  const queues = new Map<string, Promise<unknown>>();
  /** Serialised per task, so that changes are not lost and updates arrive in order. */
  const inTurn = <T>(folder: string, work: () => Promise<T>): Promise<T> => {
    const next = (queues.get(folder) ?? Promise.resolve()).then(work);
    const quiet = next.catch(() => {});
    queues.set(folder, quiet);
    void quiet.then(() => queues.get(folder) === quiet && queues.delete(folder));
    return next;
  };
  const list = async (folder: string): Promise<PushConfig[]> => {
    try {
      return z.array(config).parse(JSON.parse(await readRegularText(join(folder, FILE))));
    } catch {
      return []; // no subscription yet
    }
  };
  const save = (folder: string, all: readonly PushConfig[]): Promise<void> =>
    writeAtomic(join(folder, FILE), JSON.stringify(all));
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
    set: (folder, wanted) =>
      inTurn(folder, async () => {
        const { id = randomUUID(), ...rest } = wanted;
        const made = config.safeParse({ ...rest, id });
        if (!made.success) throw taskError("bad-request", "The push configuration is not valid.");
        try {
          judgeUrl(made.data.url, allowed);
          checkHeaders(headersOf(made.data));
        } catch (refused) {
          throw taskError("bad-address", "This server may not send requests to the push address.", { cause: refused });
        }
        const others = (await list(folder)).filter((each) => each.id !== id);
        if (others.length >= MOST) throw taskError("bad-request", `A task can have at most ${MOST} push addresses.`);
        await save(folder, [...others, made.data]);
        return made.data;
      }),
    remove: (folder, id) =>
      inTurn(folder, async () => {
        const all = await list(folder);
        if (!all.some((each) => each.id === id)) throw taskError("not-found", "There is no such push configuration.");
        await save(
          folder,
          all.filter((each) => each.id !== id),
        );
      }),
    tell: (folder, update) =>
      inTurn(folder, async () => {
        for (const to of await list(folder)) await post(to, update).catch(onError);
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
