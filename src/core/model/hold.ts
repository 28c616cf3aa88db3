import { z } from "zod";
import type { Fault } from "../outcome/outcome.ts";
import { defined } from "../text/defined.ts";
import { LONGEST_TOLD_MS, type ProviderFault, waitAfterFault } from "./provider-fault.ts";
import { parseJson } from "../text/json.ts";

/**
 * A hold on an API key that the provider refused: no process of this machine uses the key before `probeAt`; then one
 * task sends a request to test (probe) it.
 */
export type Hold = Readonly<{
  kind: ProviderFault;
  fault: Fault;
  /** When the provider last refused a request. */
  seen: number;
  /** How many probes in a row were refused. */
  tries: number;
  probeAt: number;
  /** The time until which the provider asked to wait. */
  until?: number;
  /** The models for which requests were refused. */
  models: readonly string[];
}>;

const schema = z.object({
  kind: z.enum(["key", "credit", "quota", "provider"]),
  fault: z.object({
    code: z.enum(["MODEL_AUTH", "MODEL_RATE_LIMIT", "MODEL_OVERLOADED", "MODEL_NETWORK"]),
    message: z.string(),
    hint: z.string().optional(),
    retryable: z.boolean(),
  }),
  seen: z.number(),
  tries: z.number(),
  probeAt: z.number(),
  until: z.number().optional(),
  models: z.array(z.string()),
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
  const { until, fault, ...hold } = data;
  return { ...hold, fault: { ...fault, ...defined({ hint: fault.hint }) } as Fault, ...defined({ until }) };
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A refused request: the fault, the model, and whether the request was a test of a refused key. */
export type Refusal = Readonly<{ fault: Fault; kind: ProviderFault; model: string; now: number; probed: boolean }>;

/**
 * The hold (ban on the key) after a provider refused a request. Several refusals of parallel requests count as a single
 * refusal.
 */
export function holdAfter(before: Hold | undefined, { fault, kind, model, now, probed }: Refusal): Hold {
  const tries = probed ? (before?.tries ?? 0) + 1 : (before?.tries ?? 1);
  const next = now + waitAfterFault(fault, kind, tries);
  const told = fault.retryAfterMs !== undefined;
  const probeAt = before === undefined || probed ? next : told ? Math.max(before.probeAt, next) : before.probeAt;
  const until = told ? probeAt : probed ? undefined : before?.until;
  const { retryAfterMs: _told, ...kept } = fault;
  return {
    kind,
    fault: kept,
    seen: now,
    tries,
    probeAt,
    ...defined({ until }),
    models: [...new Set([...(before?.models ?? []), model])],
  };
}

/** How the tasks of one run react to a hold on their API key. */
export type HoldRules = Readonly<{
  /**
   * True: tasks of the run wait (park) while a provider refuses the key; otherwise they fail, after at most a minute of
   * waiting.
   */
  parks: boolean;
  /** Holds set before this time may be outdated, so one request tests whether the key works again. */
  since: number;
  /** True: holds are tested even if the provider said when they end, because a person asked to try now. */
  insists: boolean;
}>;

/** The model of a request, and whether other models were asked before it. */
export type HeldRequest = Readonly<{ model: string; fallback: boolean; now: number }>;

/** How many times a provider with a temporary fault is asked before tasks that do not park fail. */
const TRIES = 3;
/** The longest time that a task waits for a provider, if the task does not park. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Decides about a request while its key is on hold: it may be sent, may be sent by one task only, has to wait, or fails
 * with the fault that caused the hold.
 */
export function judgeHold(
  hold: Hold | undefined,
  { parks, since, insists }: HoldRules,
  { model, fallback, now }: HeldRequest,
): "go" | "probe" | "wait" | "refuse" {
  if (!hold || (fallback && isAboutModel(hold) && !hold.models.includes(model))) return "go";
  if (hold.seen < since && (insists || hold.until === undefined)) return "probe";
  const passes = hold.kind === "quota" || hold.kind === "provider";
  if (now >= hold.probeAt && (parks || passes)) return "probe";
  return parks || !passes || hold.tries > TRIES || hold.probeAt - now > LONGEST_WAIT_MS ? "refuse" : "wait";
}

/**
 * True if the refusal concerns only the model: providers count rate limits and overload per model, so another model
 * with the same key may still answer.
 */
function isAboutModel({ fault }: Hold): boolean {
  return fault.code === "MODEL_OVERLOADED" || (fault.code === "MODEL_RATE_LIMIT" && fault.retryable);
}

/** The fault of a request that was not sent because the provider refused its key earlier. */
export function heldFault({ fault, probeAt, until }: Hold, now: number, { parks }: Pick<HoldRules, "parks">): Fault {
  if (parks || until !== undefined) return { ...fault, retryAfterMs: Math.max(1, probeAt - now) };
  return { ...fault, retryable: false };
}
