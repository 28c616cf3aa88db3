import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { RemoteUpdate } from "../core/net/a2a.ts";
import type { RunStore } from "../core/run/run-store.ts";
import { createGuardedFetch, type NetworkRules } from "../runtime/network/guarded-fetch.ts";
import { checkHeaders } from "../runtime/network/web-headers.ts";
import { judgeUrl, parseAllowedHosts } from "../runtime/network/web-target.ts";
import { taskError } from "./task-error.ts";
import { parseJson } from "../core/text/json.ts";

const config = z.strictObject({
  id: z.string().min(1).max(200),
  url: z.string().min(1).max(4_000),
  token: z.string().max(4_000).optional(),
  authentication: z.strictObject({ scheme: z.string().min(1).max(100), credentials: z.string().max(4_000) }).optional(),
  /** The protocol version of the request. Notifications use the same version. */
  version: z.enum(["1.0", "0.3"]),
});

/** A push configuration of a task: where and how to send notifications about it. */
export type PushConfig = Readonly<z.infer<typeof config>>;

/** Formats an update for one version of the protocol. */
export type WritePush = (
  update: RemoteUpdate,
  version: PushConfig["version"],
) => Promise<Readonly<{ body: string; contentType: string }>>;

/**
 * The push configurations of tasks. They say where to send notifications about each task, and are stored with the runs,
 * so that they survive a restart.
 */
export type Push = Readonly<{
  /** Adds a configuration. Throws for a forbidden address. */
  set(run: string, wanted: Omit<PushConfig, "id"> & { id?: string }): Promise<PushConfig>;
  list(run: string): Promise<readonly PushConfig[]>;
  remove(run: string, id: string): Promise<void>;
  /**
   * Sends an update to all push addresses. Each gets its updates in order; a delivery that fails temporarily is
   * retried. Settles when this update is delivered or given up.
   */
  tell(run: string, update: RemoteUpdate): Promise<void>;
  /** Tries once more to deliver the pending updates, and settles when all deliveries have ended. */
  close(): Promise<void>;
}>;

const DOCUMENT = "a2a-push";
const MOST = 10;
const TIMEOUT_MS = 10_000;
/**
 * The maximum number of tries. The waits between them are 1, 2, 4, 8 and 16 seconds, or as long as the receiver asks.
 */
const TRIES = 6;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

export function createPush({
  kept,
  network = {},
  env = {},
  firstWaitMs = FIRST_WAIT_MS,
  write,
  onError,
}: {
  kept: Pick<RunStore, "document" | "setDocument">;
  network?: NetworkRules;
  env?: Readonly<Record<string, string | undefined>>;
  firstWaitMs?: number;
  write: WritePush;
  onError(error: unknown): void;
}): Push {
  const fetch = createGuardedFetch(network, { timeoutMs: TIMEOUT_MS, env });
  const closing = new AbortController();
  const allowed = parseAllowedHosts(network.allowHosts ?? []);
  const queues = new Map<string, Promise<unknown>>();
  /** Runs the work for one run or one address in order, so that changes are not lost and updates arrive in order. */
  const inTurn = <T>(run: string, work: () => Promise<T>): Promise<T> => {
    const next = (queues.get(run) ?? Promise.resolve()).then(work);
    const quiet = next.catch(() => {});
    queues.set(run, quiet);
    void quiet.then(() => queues.get(run) === quiet && queues.delete(run));
    return next;
  };
  const list = async (run: string): Promise<PushConfig[]> => {
    try {
      return z.array(config).parse(parseJson((await kept.document(run, DOCUMENT)) ?? "[]"));
    } catch {
      return []; // the run has no push configuration yet
    }
  };
  const save = (run: string, all: readonly PushConfig[]): Promise<void> =>
    kept.setDocument(run, DOCUMENT, JSON.stringify(all));
  /**
   * Tries to deliver one update. Returns that it was delivered, or the reason of the failure and whether another try
   * makes sense.
   */
  const post = async (to: PushConfig, update: RemoteUpdate): Promise<FailedPush | undefined> => {
    const { body, contentType } = await write(update, to.version);
    const sent = { "content-type": contentType, ...headersOf(to) };
    try {
      const { status, headers } = await fetch({ url: to.url, method: "POST", headers: sent, body }, NEVER);
      if (status < 400) return undefined;
      const seconds = Number(headers["retry-after"]);
      return {
        error: new Error(`a push address answered with ${status}`),
        passes: status >= 500 || PASSING.has(status),
        ...(seconds > 0 && { waitMs: Math.min(seconds * 1_000, LONGEST_WAIT_MS) }),
      };
    } catch (error) {
      return { error, passes: !(error instanceof Error && error.name === "Refusal") };
    }
  };
  const deliver = async (to: PushConfig, update: RemoteUpdate): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const failed = await post(to, update);
      if (!failed) return;
      if (!failed.passes || tries === TRIES || closing.signal.aborted) return onError(failed.error);
      const waitMs = failed.waitMs ?? firstWaitMs * 2 ** (tries - 1);
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {}); // closing the server ends the wait; the delivery is still tried
    }
  };
  return {
    list,
    set: (run, wanted) =>
      inTurn(run, async () => {
        const { id = randomUUID(), ...rest } = wanted;
        const made = config.safeParse({ ...rest, id });
        if (!made.success)
          throw taskError(
            "bad-request",
            "The push configuration is not valid: it needs a `url`, and no text in it may be longer than 4,000 characters.",
          );
        try {
          judgeUrl(made.data.url, allowed);
          checkHeaders(headersOf(made.data));
        } catch (refused) {
          throw taskError(
            "bad-address",
            "The push address or one of its headers is not allowed. This server sends notifications only to addresses on the public internet. Give another address, or leave out the headers.",
            { cause: refused },
          );
        }
        const others = (await list(run)).filter((each) => each.id !== id);
        if (others.length >= MOST) throw taskError("bad-request", `A task can have at most ${MOST} push addresses.`);
        await save(run, [...others, made.data]);
        return made.data;
      }),
    remove: (run, id) =>
      inTurn(run, async () => {
        const all = await list(run);
        if (!all.some((each) => each.id === id)) throw taskError("not-found", "The push configuration does not exist.");
        await save(
          run,
          all.filter((each) => each.id !== id),
        );
      }),
    tell: async (run, update) => {
      // The list is read in the queue of the run; the deliveries wait in the queue of their address.
      const deliveries = await inTurn(run, async () =>
        (await list(run)).map((to) => inTurn(`${run} ${to.id}`, () => deliver(to, update)).catch(onError)),
      );
      await Promise.all(deliveries);
    },
    close: async () => {
      closing.abort();
      while (queues.size > 0) await Promise.all(queues.values());
    },
  };
}

type FailedPush = Readonly<{ error: unknown; passes: boolean; waitMs?: number }>;

/** Temporary HTTP error statuses below 500, after which a push is tried again. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
const NEVER = new AbortController().signal;

/** The headers that authenticate a push notification to its receiver. */
function headersOf({ token, authentication }: Pick<PushConfig, "token" | "authentication">): Record<string, string> {
  return {
    ...(token && { "x-a2a-notification-token": token }),
    ...(authentication && { authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
}
