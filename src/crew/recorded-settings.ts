import type { HoldRules } from "../core/model/hold.ts";
import type { WishSource } from "../core/model/choose.ts";
import type { ParkRules, RunLimits, RecordedSettings } from "../core/run/event.ts";
import type { RunParameters } from "../core/run/run-parameters.ts";
import type { ModelSource } from "../core/task/runner.ts";
import { defined } from "../core/text/defined.ts";
import type { ModelRegistry } from "../models/registry/registry.ts";
import { withoutLogin } from "../models/wires/endpoint.ts";
import type { CrewOptions } from "./options.ts";

/** What decides how a run begins, for its record: the model of tasks that name none, its address, the sandbox, and whether the project is heard. */
export function settingsNow(
  models: ModelRegistry,
  { permissions }: CrewOptions,
  { projectInstructions }: RunParameters,
): RecordedSettings {
  const [first] = models.look([]).candidates;
  const provider = first?.provider === undefined ? undefined : models.provider(first.provider);
  return defined({
    model: first?.name,
    address: provider && withoutLogin(provider.endpoint.baseURL),
    sandbox: permissions?.sandbox,
    ...(projectInstructions === false && { projectInstructions }),
  });
}

/** Names what is different now from when the run began. The model is used as recorded; an address is that of today. */
export function changedSettings(
  before: RecordedSettings | undefined,
  now: RecordedSettings,
): Readonly<{ code: string; text: string }>[] {
  if (!before) return [];
  const names = ["model", "address", "sandbox"] as const;
  return names.flatMap((name) => {
    if (before[name] === now[name]) return [];
    const used =
      name === "model" ? `the run continues with ${before[name] ?? "none"}` : `${now[name] ?? "none"} is used`;
    const text = `The ${name} was ${before[name] ?? "not set"} when the run began and is ${now[name] ?? "not set"} now; ${used}.`;
    return [{ code: "SETTINGS_CHANGED", text }];
  });
}

/** The parameters of a run that is resumed: it keeps its limits, unless this call gives others. */
export function withRecordedLimits(limits: RunLimits, wished: RunParameters): RunParameters {
  const { maxTimeMs, ...budget } = limits;
  return { ...defined({ maxTimeMs }), ...wished, budget: { ...budget, ...wished.budget } };
}

/** Whether tasks of a run park instead of failing: by this call, else as recorded at its start, else by where it was started. */
export function parkRulesOf(
  { onLimit, onProviderFault, parkByDefault = false }: RunParameters,
  recorded: ParkRules | undefined,
  env: Readonly<Record<string, string | undefined>>,
): ParkRules {
  const parks = parkByDefault && !isSet(env["CI"]);
  return {
    onLimit: onLimit ?? recorded?.onLimit ?? (parks ? "park" : "end"),
    onProviderFault: onProviderFault ?? recorded?.onProviderFault ?? (parks ? "park" : "fail"),
  };
}

/** How long a refusal is believed that a run heard of before it began. */
const BELIEVED_MS = 30_000;

/**
 * How a run treats keys that providers refuse. What was refused before it began is asked for once more: by a run that fails
 * otherwise, and by one that somebody resumes, whatever time the provider gave; by a run that parks after half a minute.
 */
export function holdRulesOf({ onProviderFault }: ParkRules, resumed: boolean, now: number): HoldRules {
  const parks = onProviderFault === "park";
  return { parks, since: parks && !resumed ? now - BELIEVED_MS : now, insists: resumed };
}

/** Build servers set it to different values; a few say with it that they are none. */
const isSet = (value: string | undefined): boolean => !["", "0", "false"].includes(value?.toLowerCase() ?? "");

/** Says which limits are different from now on. */
export function changedLimits(
  before: RunLimits,
  { budget, maxTimeMs }: RunParameters,
): Readonly<{ code: string; text: string }>[] {
  const now: RunLimits = { ...budget, ...defined({ maxTimeMs }) };
  const names = ["maxUsd", "maxTokens", "maxTurns", "maxToolCalls", "maxSpawns", "maxTimeMs"] as const;
  return names.flatMap((name) => {
    if (now[name] === before[name]) return [];
    return [{ code: "LIMIT_CHANGED", text: `${name}: ${before[name] ?? "no limit"} -> ${now[name]} for this run.` }];
  });
}

/** The models of a run that is resumed: where no task names one, the model that it began on, or an error. */
export function onRecordedModel<T extends ModelSource>(models: T, model: string | undefined): T {
  if (model === undefined) return models;
  return {
    ...models,
    choose: (wishes, options = {}) => {
      const binding: { binding?: WishSource } = wishes.length === 0 ? { binding: "run" } : {};
      return models.choose([...wishes, { by: "run", names: model }], { ...options, ...binding });
    },
  };
}
