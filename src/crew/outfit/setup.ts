import { homedir } from "node:os";
import { join } from "node:path";
import type { Caller } from "../../core/delegation/spawn.ts";
import type { Model } from "../../core/model/model.ts";
import type { Permissions } from "../../core/policy/permissions.ts";
import type { Tool } from "../../core/task/tool.ts";
import type { McpServers } from "../../core/vocabulary/mcp-server.ts";
import type { LanguageModel } from "../../models/ai-sdk/is-language-model.ts";
import type { ModelRegistryConfig } from "../../models/registry/model-config.ts";
import type { NetworkRules } from "../../runtime/network/guarded-fetch.ts";
import type { TaskWorldSettings } from "../../runtime/task/world.ts";
import type { WebSearch } from "../../tools/parts/search-backends.ts";

/**
 * The options of a crew that can be written as JSON: this process, a child process and a worker thread build the same
 * tools, models and rules from them. Options that tasks read are declared in `TaskWorldSettings`.
 */
export type CrewSetup = TaskWorldSettings &
  Readonly<{
    /** Where runs are stored: `$SUBCREW_HOME` or `~/.subcrew` by default; `false`: nowhere. */
    home?: string | false;
    /**
     * The address of the engine that stores the runs and assigns tasks to workers; by default both happen in this
     * process.
     */
    engine?: string;
    /** The home folder in which the user's agents are searched. */
    userHome?: string;
    /** True: the project's own agents may run. */
    trusted?: boolean;
    /** Modules that export tools. Their tools exist in every process in which a task runs. */
    toolModules?: readonly string[];
    /** Addresses, keys and headers of known providers, and the user's own providers. */
    providers?: ModelRegistryConfig["providers"];
    /** The models that `fast`, `balanced` and `powerful` stand for. */
    tiers?: ModelRegistryConfig["tiers"];
    /**
     * The default model of tasks. If it is not set: the first of `models`, else the first model with a key, else the
     * offline model.
     */
    model?: string | readonly string[];
    /**
     * The permissions of agents: what they may do without asking, what they may never do, and how commands are
     * isolated.
     */
    permissions?: Permissions;
    /** Values that are redacted everywhere, in addition to variables whose names mark them as secret. */
    secrets?: readonly string[];
    /** Addresses that the network tools may reach besides the public internet. */
    network?: NetworkRules;
    /** The search engine behind `web_search`; none by default. */
    webSearch?: WebSearch;
    /** MCP servers whose tools agents may use; tool names begin with the name of the server. */
    mcpServers?: McpServers;
  }>;

/** The options of a crew that are code and stay in this process. */
export type CrewCode = Readonly<{
  /** The caller's own tools. They exist in this process only: a task in another process cannot use them. */
  tools?: readonly Tool[];
  /** The caller's own models, or model objects of the AI SDK's ecosystem, by name. */
  models?: Readonly<Record<string, Model | LanguageModel>>;
  clock?: () => number;
  random?: () => number;
}>;

/** The folder in which a crew stores its data. */
export function homeOf({ home, env }: Pick<CrewSetup, "home" | "env">): string {
  return (home === false ? undefined : home) ?? env["SUBCREW_HOME"] ?? join(env["HOME"] ?? homedir(), ".subcrew");
}

/**
 * Reads from the environment which agent must not be started. An agent that runs this program as its command sets the
 * variable to its own name, so that it cannot start itself again.
 */
export function blockedBy(env: Readonly<Record<string, string | undefined>>): Pick<Caller, "blocked"> {
  const blocked = env["SUBCREW_BLOCKED_AGENT"] ?? env["PI_BLOCKED_AGENT"];
  return blocked === undefined || blocked === "" ? {} : { blocked };
}
