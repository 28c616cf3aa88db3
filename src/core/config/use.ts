import type { BudgetLimits } from "../run/budget.ts";
import type { Config } from "./config.ts";

const CREW_WORDS = [
  "model",
  "tiers",
  "providers",
  "concurrency",
  "passEnv",
  "diagnostics",
  "network",
  "webSearch",
  "mcpServers",
  "schemaPrecedence",
] as const satisfies readonly (keyof Config)[];

/** The settings of a crew as a whole. */
export type CrewSettings = Defined<Pick<Config, (typeof CREW_WORDS)[number]>>;

export function crewSettings(config: Config): CrewSettings {
  return defined(
    Object.fromEntries(CREW_WORDS.map((word) => [word, config[word]])) as Pick<Config, (typeof CREW_WORDS)[number]>,
  );
}

/** Where anything is looked for. */
export type PlaceWords = Defined<Pick<Config, "scope" | "order">>;

export const placeWords = ({ scope, order }: Config): PlaceWords => defined({ scope, order });

/** How agents are found. */
export type AgentWords = Defined<Pick<Config, "preset" | "protectBundled" | "disabled">>;

export const agentWords = ({ preset, protectBundled, disabled }: Config): AgentWords =>
  defined({ preset, protectBundled, disabled });

type RunWords = Readonly<{ maxTimeMs?: number; maxDepth?: number; answerTimeoutMs?: number; budget?: BudgetLimits }>;

/** What bounds a run; what is wished for this one comes before the settings. */
export function runWords<T extends RunWords>(
  { maxTimeMs, maxDepth, answerTimeoutMs, budget }: Config,
  wished: T,
): T & RunWords {
  const both = { ...defined(budget ?? {}), ...wished.budget };
  return {
    ...defined({ maxTimeMs, maxDepth, answerTimeoutMs }),
    ...wished,
    ...(Object.keys(both).length > 0 && { budget: both }),
  };
}

type Defined<T> = Partial<Said<T>>;
type Said<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]: Said<Exclude<T[K], undefined>> }
    : T;

/** The same without what is not said, also inside. */
function defined<T extends object>(value: T): Defined<T> {
  return JSON.parse(JSON.stringify(value)) as Defined<T>;
}
