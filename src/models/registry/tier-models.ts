import type { Catalogue } from "../../core/model/choose.ts";
import { parseModelName } from "../../core/vocabulary/model-name.ts";
import { tierNames, tiers } from "../../core/vocabulary/tiers.ts";
import type { ModelRegistryConfig } from "./model-config.ts";

/** The models of each tier, without their context windows. */
export function modelsOfTiers({
  tiers: given = {},
}: Readonly<{ tiers?: ModelRegistryConfig["tiers"] | undefined }>): NonNullable<Catalogue["tiers"]> {
  const named = tierNames.flatMap((tier) => {
    const value = given[tier];
    return value === undefined ? [] : [[tier, typeof value === "object" && "model" in value ? value.model : value]];
  });
  return Object.fromEntries(named) as NonNullable<Catalogue["tiers"]>;
}

/**
 * The context windows that the tiers give to their models, by `provider/model`; a thinking level is not part of the
 * name.
 */
export function windowsOfTiers(given: NonNullable<ModelRegistryConfig["tiers"]> = {}): ReadonlyMap<string, number> {
  const rows = Object.values(given).flatMap((value) => {
    if (typeof value !== "object" || !("model" in value) || value.contextWindow === undefined) return [];
    const { contextWindow: tokens } = value;
    return [value.model].flat().map((name): [string, number] => [parseModelName(name).name, tokens]);
  });
  return new Map(rows);
}

/** Keeps `provider/model` unchanged; any other word is a tier, and a word without a model means the default model. */
export function modelOfTier(nameOrTier: string, config: Pick<ModelRegistryConfig, "tiers" | "default">): string {
  if (nameOrTier.includes("/")) return nameOrTier;
  const tier = tierNames.find((one) => one === nameOrTier);
  const usual = config.default ?? (tier === undefined ? nameOrTier : tiers[tier]);
  return [(tier && modelsOfTiers(config)[tier]) ?? usual].flat()[0]!;
}
