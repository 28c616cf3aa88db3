import { agentOf, type Roster } from "../../core/delegation/roster.ts";
import type { ModelWish } from "../../core/model/choose.ts";
import type { HoldRules } from "../../core/model/hold.ts";
import type { Body, Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { ParkRules } from "../../core/run/event.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import { capsMoney } from "../../core/run/spending-caps.ts";
import type { ModelSource } from "../../core/task/runner.ts";
import { isForeign, type RunnerName } from "../../core/vocabulary/runner-name.ts";
import type { Outfit } from "../outfit/outfit.ts";
import { withNotes } from "../../runtime/discovery/shadow-notes.ts";
import { checkModels, withUsableModels } from "./check-models.ts";
import type { AskedRun, PrepareParts } from "./asked-run.ts";
import { holdRulesOf, onRecordedModel } from "./recorded-settings.ts";
import type { AgentsOfRun } from "./run-agents.ts";

/** The models of one run. */
export type RunModels = Readonly<{
  /** The plan whose models exist. */
  plan: Plan;
  models: ModelSource;
  holds: HoldRules;
  /** True: a limit in dollars applies, so prices are known. */
  prices: boolean;
  /** True: no API key was found, so tasks that name no other model use the offline model. */
  isOffline: boolean;
}>;

/** Chooses and checks the models of a run. On an engine, the workers choose them. */
export async function findRunModels(
  { recorded, deck }: AskedRun,
  { parameters, parks, agents }: Readonly<{ parameters: RunParameters; parks: ParkRules; agents: AgentsOfRun }>,
  { config, outfit }: PrepareParts,
): Promise<RunModels> {
  const settings = recorded?.state.settings;
  const { roster } = agents;
  const holds = holdRulesOf(parks, recorded !== undefined, Date.now());
  const served = outfit.models.forRun(holds, settings?.providers);
  const models = onRecordedModel(deck?.models(served) ?? served, settings?.model);
  const runnerOf = (task: Task): RunnerName | undefined => task.runner ?? agentOf(task, roster)?.runner;
  const usable = parameters.modelsGiveWay ? await withUsableModels(agents.plan, models, runnerOf) : undefined;
  const plan = usable ? withNotes(usable.body, usable.warnings) : agents.plan;
  if (!outfit.connection) await checkModels(plan, models, runnerOf);
  const prices = parameters.budget?.maxUsd !== undefined || capsMoney(config.spending ?? {});
  if (prices) await outfit.models.loadPrices();
  const choosesHere = !outfit.connection && deck?.tape.kind !== "replays";
  return { plan, models, holds, prices, isOffline: choosesHere && usesLastResort(plan, roster, outfit.models) };
}

/** True if a task gets the offline model because no provider of the default models can be used. */
function usesLastResort(body: Body, roster: Roster, models: Outfit["models"]): boolean {
  return Object.values(body.nodes).some((node) => {
    if (node.kind === "loop") return usesLastResort(node.body, roster, models);
    if (node.kind !== "task") return false;
    const agent = agentOf(node.task, roster);
    if (agent?.remote || isForeign(node.task.runner ?? agent?.runner)) return false; // remote agents and other agent programs choose their models themselves
    const wishes: ModelWish[] = [
      ...(node.task.model === undefined ? [] : [{ by: "call" as const, names: node.task.model }]),
      ...(agent?.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
    ];
    return models.look(wishes, "call").lastResort === true;
  });
}
