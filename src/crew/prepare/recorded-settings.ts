import type { HoldRules } from "../../core/model/hold.ts";
import type { WishSource } from "../../core/model/choose.ts";
import type { Body } from "../../core/plan/plan.ts";
import type { Permissions } from "../../core/policy/permissions.ts";
import type { ParkRules, RunLimits, RecordedSettings } from "../../core/run/event.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { splitModelName } from "../../core/vocabulary/model-name.ts";
import type { ModelRegistry } from "../../models/registry/registry.ts";
import type { CrewOptions } from "../outfit/options.ts";

/**
 * The settings to record at the start of a run: the default model, the addresses of providers, the sandbox, whether the
 * project's settings and instructions are used, and `inSettings`, the permissions that the settings give.
 */
export function settingsNow(
  models: ModelRegistry,
  { permissions }: CrewOptions,
  { projectInstructions }: RunParameters,
  inSettings: Permissions | undefined,
): RecordedSettings {
  const [first] = models.look([]).candidates;
  return defined({
    model: first?.name,
    providers: models.records(),
    sandbox: permissions?.sandbox,
    ...(projectInstructions === false && { projectInstructions }),
    permissions: inSettings,
  });
}

/**
 * Lists the settings that differ from the settings at the start of the run. A resumed run uses model and addresses as
 * recorded, and the sandbox of this machine as it is now. `used`: the models of the plan's tasks; addresses of other
 * providers are ignored.
 */
export function changedSettings(
  before: RecordedSettings | undefined,
  now: RecordedSettings,
  used: readonly string[],
): Readonly<{ code: string; text: string }>[] {
  if (!before) return [];
  const asked = new Set(used.map((name) => splitModelName(name)?.provider));
  const addresses = Object.entries(before.providers ?? {}).filter(([name]) => asked.has(name));
  return [
    changed("model", before.model, now.model, before.model),
    ...addresses.map(([name, { address }]) =>
      changed(`address of ${name}`, address, now.providers?.[name]?.address ?? address, address),
    ),
    changed("sandbox", before.sandbox, now.sandbox, now.sandbox),
  ].flat();
}

function changed(
  name: string,
  before: string | undefined,
  now: string | undefined,
  used: string | undefined,
): Readonly<{ code: string; text: string }>[] {
  if (before === now) return [];
  const text = `The ${name} was ${before ?? "not set"} when the run began and is ${now ?? "not set"} now; the run continues with ${used ?? "none"}.`;
  return [{ code: "SETTINGS_CHANGED", text }];
}

/** The models of the tasks of a plan; a task that names no model uses the default model. */
export function modelsIn(body: Body, byDefault: string | undefined): string[] {
  return Object.values(body.nodes).flatMap((node) => {
    if (node.kind === "loop") return modelsIn(node.body, byDefault);
    return node.kind === "task" ? [node.task.model ?? byDefault ?? []].flat() : [];
  });
}

/** The options of a resumed run. It keeps its recorded limits, unless this call gives other limits. */
export function withRecordedLimits(limits: RunLimits, wished: RunParameters): RunParameters {
  const { maxTimeMs, ...budget } = limits;
  return { ...defined({ maxTimeMs }), ...wished, budget: { ...budget, ...wished.budget } };
}

/**
 * Whether tasks of a run park (wait) instead of failing: as this call says, else as recorded at the run's start, else
 * depending on where the run was started.
 */
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

/** How long a provider's refusal from before the run is believed without asking again. */
const BELIEVED_MS = 30_000;

/**
 * How a run treats API keys that providers refused before it started. A run whose tasks do not wait, and a run that a
 * person resumes, verifies the refusal with one request, whatever time the provider gave. A run whose tasks wait (park)
 * verifies it only if the refusal is older than half a minute.
 */
export function holdRulesOf({ onProviderFault }: ParkRules, resumed: boolean, now: number): HoldRules {
  const parks = onProviderFault === "park";
  return { parks, since: parks && !resumed ? now - BELIEVED_MS : now, insists: resumed };
}

/**
 * True if the value of a variable such as `CI` means yes. Build servers use different values, and a few use a value
 * that means false.
 */
const isSet = (value: string | undefined): boolean => !["", "0", "false"].includes(value?.toLowerCase() ?? "");

/** Describes the limits that differ from the recorded limits. */
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

/**
 * The models of a resumed run. A task that names no model uses the model that the run started with; if that model is
 * unavailable, it is an error.
 */
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
