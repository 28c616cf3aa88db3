import { type RunParameters, runLimits } from "../run/run-parameters.ts";
import type { Exact } from "../text/defined.ts";
import type { Config } from "./config.ts";

const CREW_WORDS = [
  "model",
  "tiers",
  "providers",
  "passEnv",
  "diagnostics",
  "network",
  "webSearch",
  "mcpServers",
  "schemaPrecedence",
  "delegation",
  "delegationTools",
  "toolNames",
  "output",
  "engine",
] as const satisfies readonly (keyof Config)[];

/** The settings of a crew as a whole. */
export type CrewSettings = Defined<Pick<Config, (typeof CREW_WORDS)[number]>>;

export function crewSettings(config: Config): CrewSettings & Readonly<{ callersMayChoose?: boolean }> {
  const words = Object.fromEntries(CREW_WORDS.map((word) => [word, config[word]]));
  return defined({
    ...(words as Pick<Config, (typeof CREW_WORDS)[number]>),
    callersMayChoose: config.models?.callersMayChoose,
  });
}

/** The settings that decide which agent folders are searched, and in which order. */
export type PlaceWords = Defined<Pick<Config, "scope" | "order">>;

export const placeWords = ({ scope, order }: Config): PlaceWords => defined({ scope, order });

/** The settings that decide which of the found agents are available. */
export type AgentWords = Defined<Pick<Config, "preset" | "protectBundled" | "disabled">>;

export const agentWords = ({ preset, protectBundled, disabled }: Config): AgentWords =>
  defined({ preset, protectBundled, disabled });

/** The settings of a run, overridden by options of the crew and of the run. */
export function withRunSettings<T extends RunParameters>(config: Config, given: T): T & RunParameters {
  const settings: RunParameters = defined(
    Object.fromEntries(Object.keys(runLimits.shape).map((key) => [key, config[key as keyof typeof runLimits.shape]])),
  );
  const budget = { ...settings.budget, ...given.budget };
  return { ...settings, ...given, ...(Object.keys(budget).length > 0 && { budget }) };
}

type Defined<T> = Partial<Exact<T>>;

/** Removes undefined values, including those in nested objects. */
function defined<T extends object>(value: T): Defined<T> {
  return JSON.parse(JSON.stringify(value)) as Defined<T>;
}
