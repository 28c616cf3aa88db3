import type { Agent } from "../core/agent/agent.ts";
import type { Config } from "../core/config/config.ts";
import type { Model } from "../core/model/model.ts";
import type { Permissions } from "../core/policy/permissions.ts";
import type { Tool } from "../core/task/tool.ts";
import type { McpServers } from "../core/vocabulary/mcp-server.ts";
import type { LanguageModel } from "../models/ai-sdk/is-language-model.ts";
import type { ModelRegistryConfig } from "../models/registry/registry.ts";
import type { NetworkRules } from "../runtime/network/guarded-fetch.ts";
import type { WebSearch } from "../tools/parts/search-backends.ts";

/** What a crew is made of; everything has a default. */
export type CrewOptions = Readonly<{
  /** The workspace; the current folder by default. */
  cwd?: string;
  /** Where runs are kept: `$SUBCREW_HOME` or `~/.subcrew` by default; `false`: nowhere. */
  home?: string | false;
  /** Where the user's own agents are looked for. */
  userHome?: string;
  /** Agents besides those that are found; they come first. */
  agents?: readonly Agent[];
  /** False: only `agents` and the bundled ones exist. */
  discover?: boolean;
  /** The project's own agents may run. */
  trusted?: boolean;
  /** Tools of one's own. They exist in this process only: a task in another one cannot use them. */
  tools?: readonly Tool[];
  /** Modules that export tools; those exist in every process in which a task runs. */
  toolModules?: readonly string[];
  /** Models of one's own, or model objects of the AI SDK's ecosystem, by the names they get here. */
  models?: Readonly<Record<string, Model | LanguageModel>>;
  /** Addresses, keys and headers of known providers, and providers of one's own. */
  providers?: ModelRegistryConfig["providers"];
  /** What `fast`, `balanced` and `powerful` mean here. */
  tiers?: ModelRegistryConfig["tiers"];
  /** The model of tasks for which nobody names one: by default the first of `models`, the first with a key, or offline. */
  model?: string | readonly string[];
  /**
   * Settings for what is not said here. `true`: those of the user's file, of a trusted project's and of the variables.
   * By default there are none.
   */
  config?: Config | true;
  concurrency?: number;
  /** Whose output schema counts when both an agent and a call have one: the agent's by default. */
  schemaPrecedence?: "agent" | "call";
  /** Nobody is there to answer gates. */
  unattended?: boolean;
  /** What agents may do unasked, what never, and how commands are isolated. */
  permissions?: Permissions;
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that tasks and their programs may see besides PATH, HOME and the like. */
  passEnv?: readonly string[];
  /** A checker of the project, and who reads what it says after changing files: the agent `code` by default. */
  diagnostics?: Readonly<{ command: string; agents?: readonly string[]; timeoutMs?: number }>;
  /** Values that must not be seen anywhere, besides those of variables whose name says so. */
  secrets?: readonly string[];
  /** What the network tools may reach besides the public internet. */
  network?: NetworkRules;
  /** The search engine behind `web_search`; none by default. */
  webSearch?: WebSearch;
  /** MCP servers whose tools agents may use, by the names that those begin with. */
  mcpServers?: McpServers;
  clock?: () => number;
  random?: () => number;
}>;
