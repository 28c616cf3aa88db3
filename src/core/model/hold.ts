import { z } from "zod";
import type { Fault } from "../outcome/outcome.ts";
import { defined } from "../text/defined.ts";
import { LONGEST_TOLD_MS, type ProviderFault, waitAfterFault } from "./provider-fault.ts";
import { parseJson } from "../text/json.ts";
import { withFullStop } from "../text/sentence.ts";

/**
 * A hold on an API key that the provider refused, or on one model with that key: no process of this machine sends such
 * requests before `probeAt`; then one task sends a request to test (probe) it.
 */
export type Hold = Readonly<{
  kind: ProviderFault;
  fault: Fault;
  /** When the provider began to refuse requests; absent in older records. */
  began?: number;
  /** When the provider last refused a request. */
  seen: number;
  /** How many probes in a row were refused. */
  tries: number;
  probeAt: number;
  /** The time until which the provider asked to wait. */
  until?: number;
  /** What does not serve: `provider`, or `provider/model`; absent in older records. */
  about?: string;
}>;

const schema = z.object({
  kind: z.enum(["key", "credit", "quota", "provider"]),
  fault: z.object({
    code: z.enum(["MODEL_AUTH", "MODEL_RATE_LIMIT", "MODEL_OVERLOADED", "MODEL_NETWORK"]),
    message: z.string(),
    hint: z.string().optional(),
    retryable: z.boolean(),
  }),
  began: z.number().optional(),
  seen: z.number(),
  tries: z.number(),
  probeAt: z.number(),
  until: z.number().optional(),
  about: z.string().optional(),
});

/** How long the record of an expired hold is kept. */
const STALE_MS = 600_000;
/** Tolerance for a clock that was set back: how far in the future a recorded time may be. */
const SKEW_MS = 60_000;

/** Parses a hold; `undefined` for a hold that is damaged, impossible or expired. */
export function parseHold(text: string, now: number): Hold | undefined {
  const { data } = schema.safeParse(json(text));
  if (!data || data.seen > now + SKEW_MS || data.probeAt > now + LONGEST_TOLD_MS + SKEW_MS) return undefined;
  if (now > data.probeAt + STALE_MS) return undefined;
  const { began, until, about, fault, ...hold } = data;
  return {
    ...hold,
    fault: { ...fault, ...defined({ hint: fault.hint }) } as Fault,
    ...defined({ began, until, about }),
  };
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A refused request: the fault, what it is about, and whether the request was a test of a refused key. */
export type Refusal = Readonly<{ fault: Fault; kind: ProviderFault; about: string; now: number; probed: boolean }>;

/**
 * The hold (ban on the key) after a provider refused a request. Several refusals of parallel requests count as a single
 * refusal.
 */
export function holdAfter(before: Hold | undefined, { fault, kind, about, now, probed }: Refusal): Hold {
  const tries = probed ? (before?.tries ?? 0) + 1 : (before?.tries ?? 1);
  const next = now + waitAfterFault(fault, kind, tries);
  const told = fault.retryAfterMs !== undefined;
  const probeAt = before === undefined || probed ? next : told ? Math.max(before.probeAt, next) : before.probeAt;
  const until = told ? probeAt : probed ? undefined : before?.until;
  const { retryAfterMs: _told, ...kept } = fault;
  const isSameOutage = before !== undefined && now - before.probeAt < LONGEST_WAIT_MS;
  return {
    kind,
    fault: kept,
    began: isSameOutage ? beganAt(before) : now,
    seen: now,
    tries,
    probeAt,
    about,
    ...defined({ until }),
  };
}

/** How the tasks of one run react to a hold on their API key. */
export type HoldRules = Readonly<{
  /**
   * True: tasks of the run wait (park) while a provider refuses the key; otherwise they fail, or wait at most a minute
   * for a temporary fault.
   */
  parks: boolean;
  /** Holds set before this time may be outdated, so one request tests whether the key works again. */
  since: number;
  /** True: holds are tested even if the provider said when they end, because a person asked to try now. */
  insists: boolean;
}>;

/** How long a task waits at most for a provider, if the task does not park. */
const LONGEST_WAIT_MS = 60_000;

const beganAt = ({ began, seen }: Hold): number => began ?? seen;

/**
 * Decides about a request while its key or model is on hold. `probe`: one task may send its request. `try`: every task
 * may send its request. `refuse`: the request fails with the fault that caused the hold.
 *
 * For tasks that do not park, a temporary fault is only a reason to wait: tasks wait together for a minute, from then on
 * each task finds out for itself, with its own retries.
 */
export function judgeHold(
  hold: Hold,
  { parks, since, insists }: HoldRules,
  now: number,
): "try" | "probe" | "wait" | "refuse" {
  const isDue = now >= hold.probeAt;
  if (hold.seen < since && (insists || isDue || hold.until === undefined)) return "probe";
  if (parks) return isDue ? "probe" : "refuse";
  if (hold.kind === "key" || hold.kind === "credit") return "refuse";
  if (hold.until !== undefined && !isDue) return isLong(hold, now) ? "refuse" : "wait";
  if (!hold.fault.retryable || now - beganAt(hold) > LONGEST_WAIT_MS) return "try";
  return isDue ? "probe" : "wait";
}

/** True if the provider asked for a longer wait than tasks without parking wait. */
const isLong = ({ until, probeAt }: Pick<Hold, "until" | "probeAt">, now: number): boolean =>
  until !== undefined && probeAt - now > LONGEST_WAIT_MS;

/**
 * True if the refusal concerns only the model: providers count rate limits and overload per model, so another model
 * with the same key may still answer.
 */
export function isAboutModel({ code, retryable }: Pick<Fault, "code" | "retryable">): boolean {
  return code === "MODEL_OVERLOADED" || (code === "MODEL_RATE_LIMIT" && retryable);
}

/** The shortest wait for which a task parks (gives up its slot while it waits). */
export const PARKS_FROM_MS = 1_000;

/**
 * The fault of a request that was not sent because the provider refused the key or model earlier. A task that can park
 * does so at once: the task that may send the next request needs the slot.
 */
export function heldFault(hold: Hold, now: number, { parks }: Pick<HoldRules, "parks">): Fault {
  const { fault, probeAt } = hold;
  const retryAfterMs = Math.max(parks ? PARKS_FROM_MS : 1, probeAt - now);
  if (!isLong(hold, now)) return parks ? { ...fault, retryAfterMs } : { ...fault, retryable: false };
  const message = `${waitText(fault, probeAt)} No request was sent.`;
  return { ...fault, message, ...(!parks && { hint: ASK_ONCE }), retryAfterMs };
}

/** The fault of a refused request; if tasks will not wait as long as the provider asks, it says until when. */
export function refusedFault(fault: Fault, now: number, { parks }: Pick<HoldRules, "parks">): Fault {
  const waitMs = Math.min(fault.retryAfterMs ?? 0, LONGEST_TOLD_MS);
  return parks || waitMs <= LONGEST_WAIT_MS
    ? fault
    : { ...fault, message: waitText(fault, now + waitMs), hint: ASK_ONCE };
}

const waitText = ({ message }: Fault, until: number): string =>
  `${withFullStop(message)} The provider asks to wait until ${new Date(until).toISOString()}.`;

const ASK_ONCE = "Send one request now with `subcrew resume RUN --retry-failed`, or choose another model.";
