import type { Fault } from "../outcome/outcome.ts";
import { nearest } from "../text/nearest.ts";
import { idOfDisplayName, modelNames, parseModelName, splitModelName } from "../vocabulary/model-name.ts";
import type { Thinking } from "../vocabulary/thinking.ts";
import { modelFamilies, shortcuts, type Tier, tierNames, tiers } from "../vocabulary/tiers.ts";

/** A request for a model: one name, a comma-separated list or a list of names, and who made it. */
export type ModelWish = Readonly<{ by: WishSource; names: string | readonly string[] }>;

/** The sources of a request for a model, in order of precedence; settings and base agents count as `agent`. */
export type WishSource = "call" | "agent" | "parent" | "run" | "default";

/** The available models, as plain data. */
export type Catalogue = Readonly<{
  /** True for a model that exists by name: passed by the library user, or built in. */
  named(name: string): boolean;
  /** Whether a provider can be used; `undefined` for an unknown provider. */
  provider(name: string): ProviderStatus | undefined;
  /** Names of models and providers, for suggestions about mistyped names. */
  names: readonly string[];
  /** The user's own tiers and short names, which replace the built-in tiers and names. */
  tiers?: Partial<Readonly<Record<Tier, string | readonly string[]>>>;
  /** The default model, or several in order of preference. */
  default: string | readonly string[];
  /** Fallback when no default model is available. */
  lastResort?: string;
}>;

/** Whether a provider can be used, and the reason; `hint` says how to make it usable. */
export type ProviderStatus = Readonly<{
  usable: boolean;
  because: string;
  hint?: string;
  /**
   * True: a local server at its usual port that no setting, variable or default model names. Any program may listen at
   * that port.
   */
  isUnconfirmed?: boolean;
}>;

/** A model that is available on this machine. */
export type ModelCandidate = Readonly<{
  /** `provider/id`, or the name under which the library user passed the model. */
  name: string;
  provider?: string;
  /** The model id of the provider. */
  id: string;
  thinking?: Thinking;
  why: string;
  /** True: used only if the models before it do not exist. */
  spare?: true;
}>;

/** A name that did not resolve to a model. */
export type Miss = Readonly<{ name: string; code: "UNKNOWN_MODEL" | "MISSING_KEY"; because: string; hint: string }>;

export type Choice = Readonly<{
  /** The first model is used; the other models are fallbacks. Empty: no model is available. */
  candidates: readonly ModelCandidate[];
  misses: readonly Miss[];
  /** Warnings about requested models that cannot be used. */
  warnings: readonly string[];
  /** True: the model is the last resort, because no provider of the default models can be used. */
  lastResort?: true;
}>;

/**
 * Chooses the models of a task. The first request with an available model wins. Its first available name comes first,
 * and its other names follow in order. A request without any available model is skipped with a warning, unless it is
 * `binding`: then the choice fails. Only a request of an agent falls back to another model when its model does not
 * exist; a model named by a person is used or is an error.
 */
export function chooseModel(asked: readonly ModelWish[], catalogue: Catalogue, binding?: WishSource): Choice {
  const wishes: readonly ModelWish[] = [...asked, { by: "default", names: catalogue.default }];
  const misses: Miss[] = [];
  const warnings: string[] = [];
  const fallback = (by: WishSource): string | readonly string[] =>
    (by === "parent" ? undefined : asked.find((wish) => wish.by === "parent")?.names) ?? catalogue.default;
  const expanded = (names: ModelWish["names"], by: WishSource): Found =>
    merged(modelNames(names).map((name) => expand(name, { catalogue, inherited: fallback(by), depth: 0 })));
  const look = ({ by, names }: ModelWish): Found => {
    const found = by === "agent" ? withoutUnconfirmed(expanded(names, by), catalogue) : expanded(names, by);
    const resort = by === "default" ? catalogue.lastResort : undefined;
    if (found.candidates.length > 0 || resort === undefined) return found;
    return { ...expanded(resort, by), lastResort: true };
  };

  for (const [at, wish] of wishes.entries()) {
    const { candidates, missed, lastResort } = look(wish);
    if (candidates.length === 0) {
      const names = modelNames(wish.names).join(", ");
      const short = inShort(names, missed);
      misses.push(...short);
      if (short.length === 0) continue;
      if (wish.by === binding) break;
      warnings.push(`${asks[wish.by]} ${names}: ${short.map(({ because }) => because).join("; ")}.`);
      continue;
    }
    const chosen = candidates.map((one) => ({ ...one, why: `${asks[wish.by]} ${one.why}` }));
    const givesWay = wish.by !== binding && (wish.by === "agent" || wish.by === "call");
    const spares = givesWay ? wishes.slice(at + 1).flatMap((lower) => look(lower).candidates.slice(0, 1)) : [];
    const more = spares.filter(({ name }) => !chosen.some((one) => one.name === name));
    return {
      candidates: [...chosen, ...more.slice(0, 1).map((one) => ({ ...one, spare: true as const }))],
      misses,
      warnings,
      ...(lastResort && { lastResort }),
    };
  }
  return { candidates: [], misses, warnings };
}

/**
 * Leaves out local servers that no person confirmed: an agent file alone must not send a prompt to a port that the
 * person never named.
 */
function withoutUnconfirmed({ candidates, missed }: Found, catalogue: Catalogue): Found {
  const isOpen = ({ provider }: ModelCandidate): boolean =>
    provider === undefined || catalogue.provider(provider)?.isUnconfirmed !== true;
  const closed = candidates.filter((one) => !isOpen(one));
  return {
    candidates: candidates.filter(isOpen),
    missed: [...missed, ...closed.map(({ name, provider = "" }) => unconfirmed(name, provider))],
  };
}

const unconfirmed = (name: string, provider: string): Miss => ({
  name,
  code: "MISSING_KEY",
  because: `the local server "${provider}" was not confirmed`,
  hint: `Confirm the server: run \`subcrew init\`, or \`subcrew config set model ${name}\`.`,
});

/**
 * Whether the next model may be tried after this fault. A model marked `spare` may be tried only when the model before
 * it does not exist.
 */
export function mayFallBack({ code }: Pick<Fault, "code">, { spare }: Pick<ModelCandidate, "spare">): boolean {
  return code === "MODEL_UNKNOWN" || (spare !== true && passing.has(code));
}

const passing: ReadonlySet<Fault["code"]> = new Set([
  "MODEL_AUTH",
  "MODEL_OVERLOADED",
  "MODEL_RATE_LIMIT",
  "MODEL_NETWORK",
]);

const asks: Readonly<Record<WishSource, string>> = {
  call: "the call asks for",
  agent: "the agent asks for",
  parent: "its parent runs on",
  run: "the run began on",
  default: "the default is",
};

type Found = Readonly<{ candidates: readonly ModelCandidate[]; missed: readonly Miss[]; lastResort?: true }>;
type Looking = Readonly<{ catalogue: Catalogue; inherited: string | readonly string[]; depth: number }>;

/** Maximum length of a chain of aliases that refer to further aliases. */
const DEEPEST = 5;

/** Resolves one name to a model, or to several models of which the first available is used. */
function expand(text: string, looking: Looking): Found {
  const { catalogue, inherited, depth } = looking;
  const { name, thinking } = catalogue.named(text) ? { name: text } : parseModelName(text);
  if (catalogue.named(name)) return { candidates: [{ name, id: name, ...told(thinking), why: name }], missed: [] };
  const meant = standsFor(name.toLowerCase(), looking);
  if (meant !== undefined && depth < DEEPEST) {
    const inner = merged(modelNames(meant).map((one) => expand(one, { catalogue, inherited, depth: depth + 1 })));
    const first = inner.candidates[0];
    if (first === undefined) return { candidates: [], missed: inShort(text, inner.missed) };
    const why = first.why === text ? text : `${text}, which is ${first.why}`;
    return { candidates: [{ ...first, ...told(thinking), why }], missed: [] };
  }
  const id = idOfDisplayName(name);
  const parts =
    splitModelName(name) ??
    modelFamilies.filter(({ begins }) => begins.test(id)).map(({ provider }) => ({ provider, id }))[0];
  const status = parts && catalogue.provider(parts.provider);
  if (parts === undefined || status === undefined)
    return { candidates: [], missed: [unknown(text, parts?.provider, catalogue)] };
  const full = `${parts.provider}/${parts.id}`;
  if (!status.usable) {
    const hint = status.hint ?? "Name another model with --model.";
    return { candidates: [], missed: [{ name: full, code: "MISSING_KEY", because: status.because, hint }] };
  }
  const why = `${full} (${status.because})`;
  return { candidates: [{ name: full, ...parts, ...told(thinking), why }], missed: [] };
}

const told = (thinking: Thinking | undefined): { thinking?: Thinking } => (thinking === undefined ? {} : { thinking });

/** Resolves a word: a tier, a shortcut, `inherit`, `auto` or `default`. */
function standsFor(word: string, { catalogue, inherited, depth }: Looking): string | readonly string[] | undefined {
  const fallback = [catalogue.default, catalogue.lastResort ?? []].flat();
  if (word === "inherit") return depth === 0 && inherited !== catalogue.default ? inherited : fallback;
  if (word === "auto" || word === "default") return fallback;
  const tier = tierNames.find((one) => one === word);
  if (tier !== undefined) return catalogue.tiers?.[tier] ?? tiers[tier];
  return Object.hasOwn(shortcuts, word) ? shortcuts[word] : undefined;
}

/** Shortens the list of models that cannot be used because a key is missing. */
function inShort(name: string, missed: readonly Miss[]): readonly Miss[] {
  const [first] = missed;
  if (first === undefined || missed.length === 1 || missed.some(({ code }) => code !== "MISSING_KEY")) return missed;
  const alone = missed.every(({ because }) => because === first.because);
  return [
    {
      ...first,
      name,
      because: alone ? first.because : `${first.because.split(",")[0]}, and no other usable key was found`,
    },
  ];
}

function unknown(name: string, provider: string | undefined, { names }: Catalogue): Miss {
  const because = provider === undefined ? `the model "${name}" is unknown` : `the provider "${provider}" is unknown`;
  const words = [...names, ...tierNames, ...Object.keys(shortcuts)];
  const close = nearest(provider ?? name, words);
  const hint =
    close === undefined ? "Write provider/model, or a tier: fast, balanced, powerful." : `Did you mean "${close}"?`;
  return { name, code: "UNKNOWN_MODEL", because, hint };
}

function merged(found: readonly Found[]): Found {
  const candidates = new Map<string, ModelCandidate>();
  for (const one of found.flatMap((each) => each.candidates))
    if (!candidates.has(one.name)) candidates.set(one.name, one);
  return { candidates: [...candidates.values()], missed: found.flatMap((each) => each.missed) };
}
