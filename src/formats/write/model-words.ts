import type { Agent } from "../../core/agent/agent.ts";
import { idOfDisplayName, modelNames, parseModelName, splitModelName } from "../../core/vocabulary/model-name.ts";
import { type ThinkingLevel, thinkingLevel } from "../../core/vocabulary/thinking.ts";
import { modelFamilies, shortcuts, tierNames, tiers } from "../../core/vocabulary/tiers.ts";

/** How a file format names models. */
export type ModelWords = Readonly<{
  /** subcrew's words for models, and their names in the file format. */
  words?: Readonly<Record<string, string>>;
  /** Providers whose models are written by their id alone; `any`: all of them. Absent: `provider/model`. */
  bare?: readonly string[] | "any";
  /**
   * True: the program reads only `provider/model`: a bare id gets its provider, and a model of an unknown provider
   * cannot be written.
   */
  qualified?: true;
  /** Matches ids without a provider that the program understands; absent: all. */
  knows?: RegExp;
}>;

/** The name of a model in a file format, without thinking level; `undefined` if the format has no name for it. */
export function modelWord(written: string, words: ModelWords): string | undefined {
  const { name } = parseModelName(written);
  const direct = wordOf(name, words);
  if (direct !== undefined) return direct;
  for (const meant of meaningOf(name)) {
    const word = wordOf(meant, words);
    if (word !== undefined) return word;
  }
  return undefined;
}

/** The first model of an agent that the target file format can name. */
export function modelFor({ model }: Agent, words: ModelWords): string | undefined {
  return modelsFor({ model }, words)?.[0];
}

/** All models of an agent that the target file format can name, in order. */
export function modelsFor(
  { model }: { readonly model?: Agent["model"] | undefined },
  words: ModelWords,
): readonly string[] | undefined {
  if (model === undefined) return undefined;
  const found = modelNames(model).flatMap((name) => modelWord(name, words) ?? []);
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** A thinking level in the words of a file format; if the format has no equal level, the next lower level. */
export function effortWord({ thinking }: Agent, levels: readonly ThinkingLevel[]): ThinkingLevel | undefined {
  if (thinking === undefined) return undefined;
  const wanted = thinkingLevel(thinking);
  if (levels.includes(wanted)) return wanted;
  if (wanted === "off") return undefined;
  const order: readonly ThinkingLevel[] = ["minimal", "low", "medium", "high", "xhigh"];
  const below = order.slice(0, order.indexOf(wanted)).findLast((level) => levels.includes(level));
  return below ?? order.find((level) => levels.includes(level));
}

/** The models that a tier or a short name stands for. */
function meaningOf(name: string): readonly string[] {
  const word = name.toLowerCase();
  const tier = tierNames.find((one) => one === word);
  if (tier !== undefined) return tiers[tier];
  const meant = Object.hasOwn(shortcuts, word) ? shortcuts[word]! : [];
  return [meant]
    .flat()
    .flatMap((one) => (one === word ? [] : tierNames.some((each) => each === one) ? meaningOf(one) : [one]));
}

/** `provider/model` for an id or a display name whose beginning identifies the provider. */
function withProvider(name: string): string | undefined {
  const id = idOfDisplayName(name);
  const family = modelFamilies.find(({ begins }) => begins.test(id));
  return family && `${family.provider}/${id}`;
}

const OURS: ReadonlySet<string> = new Set([...tierNames, ...Object.keys(shortcuts), "inherit", "auto", "default"]);

function wordOf(name: string, { words = {}, bare, qualified, knows = /./ }: ModelWords): string | undefined {
  const word = name.toLowerCase();
  if (Object.hasOwn(words, word)) return words[word];
  if (OURS.has(word)) return undefined;
  const parts = splitModelName(name);
  if (parts === undefined && qualified) return withProvider(name);
  if (parts === undefined) return knows.test(name) ? name : undefined;
  if (bare === undefined) return name;
  return bare === "any" || bare.includes(parts.provider) ? parts.id : undefined;
}
