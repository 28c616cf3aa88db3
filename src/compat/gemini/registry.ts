import type { RemoteCard } from "../../core/agent/agent.ts";
import { messageOf } from "../../core/schema/error.ts";
import { isRecord } from "../../core/text/json.ts";
import { bundledAgents } from "../../formats/bundled-agents.ts";
import {
  type AgentDefinition,
  agentFromDefinition,
  dtoOf,
  type GeminiModelConfig,
  markdownToAgentDefinition,
  type RunConfig,
} from "../../formats/dialects/gemini-definition.ts";
import { dialects } from "../../formats/table.ts";
import { discover } from "../../runtime/discovery/discover.ts";

/** The user's settings for one agent, in the format of Gemini CLI. */
export type AgentOverride = { enabled?: boolean; runConfig?: RunConfig; modelConfig?: DeepPartial<GeminiModelConfig> };
type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

export type GeminiRegistryConfig = Readonly<{
  cwd: string;
  home: string;
  /** Whether the project's agents are used. */
  trusted?: boolean;
  /** False: no agent files are read. */
  enableAgents?: boolean;
  overrides?: Readonly<Record<string, AgentOverride>>;
  extensions?: readonly Readonly<{ active: boolean; agents: readonly AgentDefinition[] }>[];
  /** The bundled agents. */
  builtIn?: readonly AgentDefinition[];
  /** Returns the model that `inherit` means; called each time it is needed. */
  mainModel?(): string;
  onWarning?(message: string): void;
  /** Called after the agents were loaded again. */
  onRefresh?(event: "agentsRefreshed"): void;
  /** Clears the cache of remote agents. */
  clearRemoteCache?(): void;
  /** Reads the cards of remote agents; an `A2AClientManager` by default, `false`: no cards are read. */
  remotes?: RemoteCards | false;
}>;

/** The part of a client manager that the registry needs to read the card of a remote agent. */
export type RemoteCards = Readonly<{
  loadAgent(
    name: string,
    place: RemoteCard,
  ): Promise<Readonly<{ description?: string; skills?: readonly Readonly<{ name: string; description?: string }>[] }>>;
}>;

/**
 * Gemini CLI's registry: the agents of `.gemini/agents` and `~/.gemini/agents`, found by the same search as all agents.
 */
export class AgentRegistry {
  readonly #config: GeminiRegistryConfig;
  readonly #known = new Map<string, AgentDefinition>();
  readonly #active = new Map<string, AgentDefinition>();
  readonly #modelConfigs = new Map<string, GeminiModelConfig>();

  constructor(config: GeminiRegistryConfig) {
    this.#config = config;
  }

  /**
   * Discovers and registers agents: first the project's agents, then the user's, then agents of extensions, then
   * bundled agents.
   */
  async initialize(): Promise<void> {
    const { enableAgents = true, extensions = [], builtIn = bundledDefinitions() } = this.#config;
    const files = enableAgents ? await this.#fromFiles() : [];
    const active = extensions.filter((extension) => extension.active).flatMap(({ agents }) => agents);
    for (const definition of [...files, ...active, ...builtIn]) await this.#register(definition);
    for (const name of Object.keys(this.#config.overrides ?? {}))
      if (![...this.#known.keys()].some((known) => isSameName(known, name)))
        this.#warn(`The overrides name the agent "${name}", which does not exist.`);
  }

  /** The override of an agent, whose name may be written with `_` in place of `-`, as Gemini CLI writes its own. */
  #overrideOf(agent: string): AgentOverride | undefined {
    const { overrides = {} } = this.#config;
    const name = Object.hasOwn(overrides, agent)
      ? agent
      : Object.keys(overrides).find((one) => isSameName(one, agent) && !this.#known.has(one));
    return name === undefined ? undefined : overrides[name];
  }

  /** Clears the registry and searches for agent files again. */
  async reload(): Promise<void> {
    this.#config.clearRemoteCache?.();
    this.#known.clear();
    this.#active.clear();
    this.#modelConfigs.clear();
    await this.initialize();
    this.#config.onRefresh?.("agentsRefreshed");
  }

  /** Registers an agent. Of several agents with one name, the first wins. */
  registerAgent(definition: AgentDefinition): void {
    if (!definition.name || !definition.description) {
      if (definition.kind !== "remote" || !definition.name)
        return this.#warn("Skipping invalid agent definition. Missing name or description.");
    }
    if (this.#known.has(definition.name))
      return this.#warn(`Skipping "${definition.name}": an agent of that name is already registered.`);
    this.#known.set(definition.name, definition);
    const override = this.#overrideOf(definition.name);
    if (!(override?.enabled ?? !definition.experimental)) return;
    const active = override === undefined ? definition : overridden(definition, override);
    this.#active.set(definition.name, active);
    if (active.kind === "local") this.#modelConfigs.set(getModelConfigAlias(active), active.modelConfig);
  }

  /** The model settings registered under an alias; `inherit` means the main model. */
  getModelConfig(alias: string): GeminiModelConfig | undefined {
    const registered = this.#modelConfigs.get(alias);
    if (registered?.model !== "inherit") return registered;
    return { ...registered, model: this.#config.mainModel?.() ?? registered.model };
  }

  /**
   * Registers an agent. A remote agent is described by its card; if the card cannot be read, the agent stays inactive.
   */
  async #register(definition: AgentDefinition): Promise<void> {
    const { remotes } = this.#config;
    if (definition.kind === "local" || remotes === false) return this.registerAgent(definition);
    try {
      const cards = remotes ?? new (await import("./a2a-client-manager.ts")).A2AClientManager();
      const { remote } = agentFromDefinition(definition);
      const card = await cards.loadAgent(definition.name, remote ?? {});
      this.registerAgent({ ...definition, description: describedBy(definition.description, card) });
    } catch (error) {
      this.#known.set(definition.name, definition);
      this.#warn(`Error loading A2A agent "${definition.name}": ${messageOf(error)}`);
    }
  }

  getDefinition(name: string): AgentDefinition | undefined {
    return this.#active.get(name);
  }

  getAllDefinitions(): AgentDefinition[] {
    return [...this.#active.values()];
  }

  getAllAgentNames(): string[] {
    return [...this.#active.keys()];
  }

  /** The names of all discovered agents, including disabled ones. */
  getAllDiscoveredAgentNames(): string[] {
    return [...this.#known.keys()];
  }

  getDiscoveredDefinition(name: string): AgentDefinition | undefined {
    return this.#known.get(name);
  }

  /** The current model of an agent: `inherit` follows the main model. */
  getModel(name: string): string | undefined {
    const definition = this.#active.get(name);
    if (definition?.kind !== "local") return undefined;
    const { model } = definition.modelConfig;
    return model === "inherit" ? (this.#config.mainModel?.() ?? model) : model;
  }

  /** The list of agents for the description of a delegation tool. */
  getToolDescription(): string {
    const lines = this.getAllDefinitions().map(({ name, description }) => `- **${name}**: ${description}`);
    const what = "Delegates a task to a specialized sub-agent.";
    return lines.length === 0
      ? `${what} No agents are currently available.`
      : `${what}\n\nAvailable agents:\n${lines.join("\n")}`;
  }

  /** The list of agents for the prompt of a parent agent. */
  getDirectoryContext(): string {
    const lines = this.getAllDefinitions().map(({ name, description }) => `- ${name}: ${description}`);
    if (lines.length === 0) return "No sub-agents are currently available.";
    return `## Available Sub-Agents\n\nDelegate a task to the sub-agent that is made for it instead of doing it yourself.\n\n${lines.join("\n")}`;
  }

  async #fromFiles(): Promise<AgentDefinition[]> {
    const { cwd, home, trusted = false } = this.#config;
    const found = await discover({ cwd, home, preset: "gemini", dialects, trust: { project: () => trusted } });
    if (found.untrusted.length > 0)
      this.#warn(
        "Skipping project agents due to untrusted folder. To enable, ensure that the project root is trusted.",
      );
    for (const { file, problems } of found.skipped)
      this.#warn(`Failed to load agent from ${file}: ${problems[0]?.message}`);
    return found.agents.map(({ read }) => markdownToAgentDefinition(dtoOf(read)));
  }

  #warn(message: string): void {
    this.#config.onWarning?.(`[AgentRegistry] ${message}`);
  }
}

const isSameName = (a: string, b: string): boolean => a.replaceAll("_", "-") === b.replaceAll("_", "-");

/** The description of an agent: its own or its card's description, and the skills on the card. */
function describedBy(
  own: string,
  { description = "", skills = [] }: Awaited<ReturnType<RemoteCards["loadAgent"]>>,
): string {
  const lines = skills.map(({ name, description: what = "" }) => `${name}: ${what}`.trim());
  return [own || description, lines.length === 0 ? "" : `Skills:\n${lines.join("\n")}`].filter(Boolean).join("\n");
}

/** The alias under which the model settings of an agent are registered. */
export const getModelConfigAlias = ({ name }: Pick<AgentDefinition, "name">): string => `${name}-config`;

/** The bundled agents that Gemini CLI also has. */
function bundledDefinitions(): AgentDefinition[] {
  const ours = bundledAgents.filter(({ agent }) => agent.name === "codebase-investigator" || agent.name === "cli-help");
  return ours.map((read) =>
    markdownToAgentDefinition({ ...dtoOf(read), name: read.agent.name, description: read.agent.description }),
  );
}

/** A copy of the definition with the override merged in; getters are kept as getters. */
function overridden(definition: AgentDefinition, { runConfig, modelConfig }: AgentOverride): AgentDefinition {
  if (definition.kind !== "local") return definition;
  const view = Object.create(Object.prototype, Object.getOwnPropertyDescriptors(definition)) as typeof definition;
  if (runConfig !== undefined) define(view, "runConfig", merged(definition.runConfig, runConfig));
  if (modelConfig !== undefined) define(view, "modelConfig", merged(definition.modelConfig, modelConfig));
  return view;
}

const define = (target: object, key: string, value: unknown): void =>
  void Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });

/** Objects are merged key by key, everything else is replaced. */
function merged(base: unknown, over: unknown): unknown {
  if (!isRecord(base) || !isRecord(over)) return over === undefined ? base : over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(base[key], over[key])]));
}
