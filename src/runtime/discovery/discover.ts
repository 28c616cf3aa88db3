import type { AgentSource } from "../../core/agent/agent.ts";
import type { Dialects, ReadAgent } from "../../core/agent/dialect.ts";
import { INHERITED_FIELDS, type InheritingAgent, inherit, lineages } from "../../core/agent/inherit.ts";
import { type AgentAdjustments, type AgentSettings, applySettings } from "../../core/agent/settings.ts";
import { isInScope, type SourceScope } from "../../core/agent/source-scope.ts";
import { lookAlikesIn } from "../../core/text/name-characters.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import type { FieldOrigin } from "../../core/vocabulary/provenance.ts";
import { changesSince, type DiscoveryCache, type DiscoveryChanges } from "./cache.ts";
import type { FoundAgent } from "./discover-found.ts";
import type { Trust } from "./distrust.ts";
import { type LoadedDefinition, loadPlace, type PlaceReport, type SkippedFile } from "./load.ts";
import { otherScopes, type ScopedAgent } from "./other-scopes.ts";
import { findPlaces, type SourceFolder } from "./places.ts";
import { pluginProblems } from "./plugins.ts";
import { type Order, type Preset, type PresetName, presets, type Row } from "./sources.ts";

export { createDiscoveryCache, type DiscoveryCache, type DiscoveryChanges } from "./cache.ts";
export type { FoundAgent } from "./discover-found.ts";
export { findAgent, getAgent, qualifiedNames } from "./find.ts";
export type { Trust } from "./distrust.ts";
export type { PlaceReport, SkippedFile } from "./load.ts";

export type DiscoverOptions = AgentAdjustments &
  Readonly<{
    cwd: string;
    home: string;
    /** The parsers by file format, which the caller supplies. */
    /** The file formats; as a function, they are loaded only if there is a place with files. */
    dialects: Dialects | (() => Promise<Dialects>);
    bundled?: readonly ReadAgent[];
    preset?: PresetName;
    /** Where to search instead of the preset's places, in order. */
    sources?: readonly (readonly Row[])[];
    /**
     * Whose agents are searched. Without it, the scope of the preset decides which agents are used, and the other
     * agents can still be selected by a qualified name or by the scope of a call.
     */
    scope?: SourceScope;
    order?: Order;
    /** Decides which projects are trusted; default: none. */
    trust?: Trust;
    /** The names of disabled agents. */
    disabled?: readonly string[];
    protectBundled?: boolean;
    /** Agents given by the caller; they take precedence over every file. */
    inline?: readonly ReadAgent[];
    /** A cache that the caller keeps between two searches, so that unchanged files are not read again. */
    cache?: DiscoveryCache;
  }>;

export type Discovery = Readonly<{
  /** The usable agents, in order of precedence. */
  agents: readonly FoundAgent[];
  /**
   * Bundled agents that can be started by name and are offered to nobody: those of other systems than the preset's, and
   * those that subcrew itself needs and the preset does not have.
   */
  unlisted: readonly FoundAgent[];
  /** Agents that are shadowed by another agent of the same name. */
  shadowed: readonly Readonly<{ found: FoundAgent; by: FoundAgent }>[];
  /** Agents that an agent of the same name hides. A call that names their scope uses them. */
  otherScopes: readonly ScopedAgent[];
  /** Agents of projects that are not trusted: they are listed, cannot be run, and do not shadow other agents. */
  untrusted: readonly FoundAgent[];
  disabled: readonly FoundAgent[];
  /** Files without a usable agent, and why. */
  skipped: readonly SkippedFile[];
  problems: readonly Problem[];
  /** Every place that was searched and its files, in order. */
  sources: readonly PlaceReport[];
  /** Agents that were added, removed and changed since the last search with the same cache. */
  changes: DiscoveryChanges;
}>;

/** Finds all agents for a directory. An invalid file does not prevent others from being found. */
export async function discover(options: DiscoverOptions): Promise<Discovery> {
  const named: Preset = presets[options.preset ?? "unified"];
  const preset =
    options.sources === undefined
      ? named
      : { ...named, families: options.sources, plugins: hasClaude(options.sources) };
  const { scope = preset.scope, order = preset.order, protectBundled = preset.protectBundled } = options;
  const places = findPlaces({ cwd: options.cwd, home: options.home, preset, order, scope: options.scope ?? "both" });
  const findings: LoadedDefinition[] = (options.inline ?? []).map((read) => given(read, "inline"));
  const skipped: SkippedFile[] = [];
  const sources: PlaceReport[] = [];
  const { dialects: formats } = options;
  const dialects = typeof formats !== "function" ? formats : places.length > 0 ? await formats() : {};
  for (const place of places) {
    const loaded = await loadPlace(place, { ...options, dialects });
    findings.push(...loaded.findings);
    if (!isInScope(sourceOfPlace(place), scope)) continue;
    skipped.push(...loaded.skipped);
    sources.push(loaded.report);
  }
  for (const wrong of preset.plugins ? pluginProblems(options.home) : []) {
    skipped.push({ ...(wrong.file !== undefined && { file: wrong.file }), problems: [wrong] });
    sources.push(registryReport(wrong));
  }
  const bundled = (options.bundled ?? []).filter(({ agent }) => preset.bundled?.includes(agent.name) ?? true);
  const isPresets = ({ agent }: ReadAgent): boolean => agent.source?.family === options.preset;
  const ofPreset = options.preset === undefined ? [] : bundled.filter(isPresets);
  const ours = [...new Set([...ofPreset, ...bundled])].map((read) =>
    given(read, familyOf(read) === undefined || isPresets(read) ? "bundled" : "unlisted"),
  );
  const ordered = protectBundled ? [...ours, ...findings] : [...findings, ...ours];
  const resolving = { ...options, scope, toolsWhenOmitted: preset.toolsWhenOmitted };
  const found = resolveAll(ordered, resolving, skipped);
  const needed = (options.bundled ?? []).filter((read) => NEEDED.has(read.agent.name) && familyOf(read) === undefined);
  const missing = resolveAll(
    needed.map((read) => given(read, "unlisted")),
    resolving,
    [],
  ).filter(({ name }) => !found.some((one) => one.name === name));
  return answer(found, { skipped, sources, missing, options: resolving });
}

const familyOf = ({ agent }: ReadAgent): string | undefined => agent.source?.family;

const sourceOfPlace = ({ scope, plugin }: SourceFolder): AgentSource => ({
  kind: scope,
  ...(plugin && { pluginScope: plugin.scope }),
});

/**
 * The agent for tasks that name no agent, and the agent that `subcrew chat` talks to: both exist under every preset.
 */
const NEEDED: ReadonlySet<string> = new Set(["general", "lead"]);

/** Reports a plugin registry that cannot be read as a whole. */
const registryReport = (wrong: Problem): PlaceReport => ({
  family: "claude",
  scope: "plugin",
  dialect: "claude",
  path: wrong.file ?? "",
  trusted: true,
  files: 0,
  agents: [],
  problem: wrong,
});

/** True if folders of Claude Code are searched: its plugins are searched only then. */
const hasClaude = (sources: readonly (readonly Row[])[]): boolean =>
  sources.flat().some(({ family }) => family === "claude");

/**
 * An agent that does not come from a found file: given by the caller, or bundled. Each search returns the same object,
 * because values derived from an agent are cached by its object.
 */
function given(read: ReadAgent, as: "inline" | "bundled" | "unlisted"): LoadedDefinition {
  const kind = as === "inline" ? as : ("bundled" as const);
  const made: LoadedDefinition = givenAgents[as].get(read) ?? {
    read,
    agent: Object.freeze({
      ...read.agent,
      ...(as === "unlisted" && { hidden: true }),
      source: { ...read.agent.source, kind },
    }),
    rank: RANKS[kind],
    problems: [],
  };
  givenAgents[as].set(read, made);
  return made;
}

const givenAgents = {
  inline: new WeakMap<ReadAgent, LoadedDefinition>(),
  bundled: new WeakMap<ReadAgent, LoadedDefinition>(),
  unlisted: new WeakMap<ReadAgent, LoadedDefinition>(),
};

/** True for a bundled agent of another system than the preset's. */
const isUnlisted = ({ agent }: FoundAgent): boolean =>
  agent.hidden === true && agent.source?.kind === "bundled" && agent.source.family !== undefined;

/** Trust ranks: an agent can only extend a definition of the same or a higher rank. */
const RANKS = { bundled: 3, inline: 2 } as const;

type Resolving = DiscoverOptions & { readonly scope: SourceScope; readonly toolsWhenOmitted: "all" | "none" };

/**
 * Applies base agents and settings to all definitions, once. A definition whose base is missing is skipped and shadows
 * nothing.
 */
function resolveAll(findings: readonly LoadedDefinition[], options: Resolving, skipped: SkippedFile[]): FoundAgent[] {
  if (!findings.some(({ distrust, agent }) => distrust === undefined && agent.extends !== undefined))
    return findings.map((finding) => foundAgent(finding, undefined, options));
  const heirs = findings.map(heirOf);
  const lines = lineages(heirs.filter(({ finding }) => finding.distrust === undefined));
  const done = new Map<LoadedDefinition, FoundAgent>();
  const resolve = (heir: (typeof heirs)[number]): FoundAgent => {
    const earlier = done.get(heir.finding);
    if (earlier !== undefined) return earlier;
    const line = lines.get(heir);
    const base = line !== undefined && "base" in line ? resolve(line.base) : undefined;
    const found = foundAgent(heir.finding, base, options);
    done.set(heir.finding, found);
    return found;
  };
  const found: FoundAgent[] = [];
  for (const heir of heirs) {
    const line = lines.get(heir);
    if (line === undefined || "base" in line) {
      found.push(resolve(heir));
      continue;
    }
    const { file, agent } = heir.finding;
    if (!isInScope(agent.source, options.scope)) continue;
    const why = problem(line.fault, line.message, { field: "extends", ...(file === undefined ? {} : { file }) });
    skipped.push({ ...(file === undefined ? {} : { file }), name: heir.name, problems: [why] });
  }
  return found;
}

function heirOf(finding: LoadedDefinition): InheritingAgent & { readonly finding: LoadedDefinition } {
  const { agent, rank, distrust } = finding;
  const heir = { finding, name: agent.name, rank };
  return distrust === undefined && agent.extends !== undefined ? { ...heir, extends: agent.extends } : heir;
}

function foundAgent(finding: LoadedDefinition, base: FoundAgent | undefined, options: Resolving): FoundAgent {
  let { agent } = finding;
  const origins: Record<string, FieldOrigin> = {};
  if (base !== undefined) {
    const heir = inherit(agent, base.agent);
    for (const field of INHERITED_FIELDS) {
      if (heir[field] !== agent[field] && heir[field] !== undefined) origins[field] = fromBase(base, finding, field);
    }
    agent = Object.freeze(heir);
  }
  if (agent.tools === undefined && options.toolsWhenOmitted === "none" && agent.source?.kind !== "bundled") {
    agent = Object.freeze({ ...agent, tools: [] });
    origins["tools"] = { from: "default", rule: "toolsWhenOmitted: none" };
  }
  if (options.settings !== undefined || options.defaults !== undefined || options.ceilings !== undefined) {
    const applied = applySettings(agent, options);
    agent = applied.agent;
    Object.assign(origins, applied.origins);
  }
  const { read, distrust, file, real, problems } = finding;
  const found: { -readonly [K in keyof FoundAgent]: FoundAgent[K] } = {
    name: agent.name,
    agent,
    read,
    trusted: distrust === undefined,
    problems,
    origins,
  };
  if (distrust !== undefined) found.distrust = distrust;
  if (file !== undefined) found.file = file;
  if (real !== undefined) found.real = real;
  if (base !== undefined) found.base = base;
  return found;
}

const settingsOf = ({ settings }: DiscoverOptions, name: string): AgentSettings | undefined =>
  settings !== undefined && Object.hasOwn(settings, name) ? settings[name] : undefined;

function fromBase(base: FoundAgent, finding: LoadedDefinition, field: string): FieldOrigin {
  const key = finding.read.from[field];
  const own: FieldOrigin | undefined =
    key === undefined
      ? undefined
      : { from: "file", key, ...(finding.file === undefined ? {} : { file: finding.file }) };
  return {
    from: "base",
    base: base.name,
    ...(base.file === undefined ? {} : { file: base.file }),
    ...(own === undefined ? {} : { own }),
  };
}

type Rest = {
  readonly skipped: readonly SkippedFile[];
  readonly sources: readonly PlaceReport[];
  /** Agents that subcrew needs and that were not found. */
  readonly missing: readonly FoundAgent[];
  readonly options: Resolving;
};

/** Resolves name conflicts: the first agent of each name wins; the other agents are listed with the reason. */
function answer(all: readonly FoundAgent[], { skipped, sources, missing, options }: Rest): Discovery {
  const found = withLookAlikes(all);
  const winners = new Map<string, FoundAgent>();
  const unlisted: FoundAgent[] = [];
  const shadowed: { found: FoundAgent; by: FoundAgent }[] = [];
  const untrusted: FoundAgent[] = [];
  const disabled: FoundAgent[] = [];
  const problems: Problem[] = [];
  const off = new Set(options.disabled);
  const isEnabled = ({ name, read }: FoundAgent): boolean =>
    settingsOf(options, name)?.enabled ?? !(read.disabled || off.has(name));
  const isUsed = ({ agent }: FoundAgent): boolean => isInScope(agent.source, options.scope);
  for (const one of found.filter(isUsed)) {
    problems.push(...one.problems);
    const by = winners.get(one.name);
    if (!one.trusted) untrusted.push(one);
    else if (!isEnabled(one)) disabled.push(one);
    else if (by === undefined) winners.set(one.name, one);
    else if (isUnlisted(one) && by.agent.source?.kind === "bundled") unlisted.push(one);
    else shadowed.push({ found: one, by });
  }
  for (const { by, found: lost } of shadowed) if (inOneDirectory(by, lost)) problems.push(duplicate(by, lost));
  for (const { problems: why, file } of skipped)
    for (const wrong of why) problems.push(file === undefined ? wrong : { ...wrong, file });
  const agents = [...winners.values()].filter((one) => !isUnlisted(one));
  return {
    agents,
    unlisted: [...[...winners.values()].filter(isUnlisted), ...unlisted, ...missing],
    shadowed,
    otherScopes: otherScopes(
      found.filter((one) => one.trusted && isEnabled(one)),
      { chosen: winners, shadowed: [...shadowed.map(({ found: lost }) => lost), ...unlisted] },
    ),
    untrusted,
    disabled,
    skipped,
    problems,
    sources,
    changes: changesSince(options.cache, agents),
  };
}

/** The same agents; those whose names look like the name of another one get a warning. */
function withLookAlikes(found: readonly FoundAgent[]): readonly FoundAgent[] {
  const likes = lookAlikesIn(new Set(found.map(({ name }) => name)));
  if (likes.size === 0) return found;
  return found.map((one) => {
    const like = likes.get(one.name);
    if (like === undefined) return one;
    const message = `The name "${one.name}" looks like "${like}", but has letters of another script.`;
    const place = { ...(one.file !== undefined && { file: one.file }), field: "name", hint: LOOK_ALIKE };
    return { ...one, problems: [...one.problems, problem("look-alike", message, place)] };
  });
}

const LOOK_ALIKE = "Use another name, so that the agent cannot be confused with the other one.";

const directoryOf = (file: string): string => file.slice(0, file.lastIndexOf("/"));
const inOneDirectory = (a: FoundAgent, b: FoundAgent): boolean =>
  a.file !== undefined && b.file !== undefined && directoryOf(a.file) === directoryOf(b.file);

const duplicate = (by: FoundAgent, lost: FoundAgent): Problem =>
  problem(
    "duplicate",
    `"${lost.name}" is already defined by ${by.file ?? "another file"}.`,
    lost.file === undefined ? {} : { file: lost.file },
  );
