import { randomInt } from "node:crypto";
import { createRedactor, type Redactor } from "../../core/secrets/redact.ts";
import { secretsIn } from "../../core/secrets/secrets-in-settings.ts";
import { secretValues } from "../../core/secrets/spellings.ts";
import { defined } from "../../core/text/defined.ts";
import { engineAt } from "../../engines/table.ts";
import { builtinModels } from "../../models/registry/builtin.ts";
import type { ModelRegistryConfig } from "../../models/registry/model-config.ts";
import { createModelRegistry, type ModelRegistry } from "../../models/registry/registry.ts";
import type { AccessParts } from "../../runtime/access/crew-access.ts";
import { asideText } from "../../runtime/files/quarantine.ts";
import type { CrewCode, CrewSetup } from "./setup.ts";
import { openAccess } from "./open-access.ts";
import { openLimits, openRuns, type OpenRuns, type SharedEngine } from "./open-runs.ts";
import { type CrewTools, openTools, type SkillSource } from "./open-tools.ts";
import { type WorldFor, worldsOf } from "./run-world.ts";

/** The outfit of a crew: the parts that all its runs share. */
export type Outfit = OpenRuns &
  Pick<CrewTools, "delegation"> &
  Readonly<{
    models: ModelRegistry;
    redactor: Redactor;
    clock(): number;
    random(): number;
    /**
     * Moves protected files to quarantine if the subcrew process of the command that created them has died; returns one
     * line for each file.
     */
    finishCommands(): Promise<readonly string[]>;
    /** The access rules of the crew, before any run narrows them. */
    access(): Promise<AccessParts>;
    worldFor: WorldFor;
  }>;

/** Creates the outfit of a crew: the parts that all its runs share. */
export function createOutfit(setup: CrewSetup, code: CrewCode & SkillSource & SharedEngine = {}): Outfit {
  const random = code.random ?? ((): number => randomInt(2 ** 32) / 2 ** 32);
  const clock = code.clock ?? Date.now;
  const runs = openRuns(setup, clock, code.connection);
  const { store } = runs;
  const limits = openLimits(setup, runs.connection);
  const models = modelsFor(setup, { ...defined({ models: code.models }), ...limits, random });
  const redactor = redactorFor(setup);
  const tools = openTools(setup, { ...code, store, redactor, clock });
  let opened: Promise<AccessParts> | undefined;
  const access = (): Promise<AccessParts> =>
    (opened ??= tools.all().then((all) => openAccess(setup, [...all.keys()], { store, redact: redactor.text })));
  return {
    ...runs,
    models,
    access,
    delegation: tools.delegation,
    redactor,
    clock,
    random,
    finishCommands: async () => ((await (await opened)?.inFlight.recover()) ?? []).map(asideText),
    worldFor: worldsOf({ setup, store, redactor, models, tools, access, clock }),
  };
}

/** Removes the secrets in variables and settings; the secrets of agents are learned when they are found. */
function redactorFor({ env, engine, providers, mcpServers, webSearch, network, secrets = [] }: CrewSetup): Redactor {
  return createRedactor([
    ...secretValues(env),
    ...secretsIn([providers, mcpServers, webSearch, network], env),
    ...secrets,
    ...(engine === undefined ? [] : engineAt(engine).secrets(engine)),
  ]);
}

function modelsFor(
  { cwd, env, model, providers, tiers, network }: CrewSetup,
  given: Pick<CrewCode, "models"> & Pick<ModelRegistryConfig, "quota" | "holds" | "random">,
): ModelRegistry {
  const named = model ?? env["SUBCREW_MODEL"];
  return createModelRegistry({
    env,
    ...given,
    builtin: builtinModels(cwd),
    ...defined({ providers, tiers, network }),
    ...(named !== undefined && named !== "" && named !== "auto" && { default: named }),
  });
}
