import type { DelegationRule } from "./core/agent/agent.ts";
import { randomInt } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Skill } from "./core/agent/skill.ts";
import type { Roster } from "./core/delegation/roster.ts";
import type { Caller } from "./core/delegation/spawn.ts";
import type { Model } from "./core/model/model.ts";
import type { RequestQuota } from "./core/model/request-quota.ts";
import { outputText } from "./core/outcome/outcome.ts";
import { type Permissions, withPermissions } from "./core/policy/permissions.ts";
import type { RunStore } from "./core/run/run-store.ts";
import { secretsInAgents } from "./core/secrets/secrets-in-agents.ts";
import { secretsIn } from "./core/secrets/secrets-in-settings.ts";
import { secretValues } from "./core/secrets/spellings.ts";
import { createRedactor, type Redactor } from "./core/secrets/redact.ts";
import type { PeerTools } from "./core/task/mcp-tools.ts";
import type { Runner } from "./core/task/runner.ts";
import type { Tool } from "./core/task/tool.ts";
import { defined } from "./core/text/defined.ts";
import type { McpServers } from "./core/vocabulary/mcp-server.ts";
import { childEntry } from "./crew/child-entry.ts";
import type { LanguageModel } from "./models/ai-sdk/is-language-model.ts";
import type { Connection, WorkerRole } from "./engines/connect.ts";
import { lazyStore } from "./engines/lazy-store.ts";
import { secretsOfUrl, shownUrl } from "./engines/postgres/engine-url.ts";
import { builtinModels } from "./models/registry/builtin.ts";
import { createModelRegistry, type ModelRegistry, type ModelRegistryConfig } from "./models/registry/registry.ts";
import { createRunAccess } from "./runtime/access/access.ts";
import { type AccessParts, accessParts, demandSandbox, restrictTo } from "./runtime/access/crew-access.ts";
import { instructionFilesOf } from "./core/agent/instruction-files.ts";
import { type InstructionPlace, readInstructions } from "./runtime/discovery/project-instructions.ts";
import { openKeptRules } from "./runtime/access/approved-rules.ts";
import { recorderFor } from "./runtime/changes/recorder.ts";
import { asideText } from "./runtime/files/quarantine.ts";
import { createGuardedFetch, type NetworkRules } from "./runtime/network/guarded-fetch.ts";
import { createGuardedOpen } from "./runtime/network/guarded-request.ts";
import { openProjectRuns } from "./runtime/resume/project-runs.ts";
import { projectTrust } from "./runtime/settings/project-trust.ts";
import { openMemory } from "./runtime/store/memory.ts";
import { openProviderHolds, type ProviderHolds } from "./runtime/store/provider-holds.ts";
import { createFolderStore } from "./runtime/store/folder-store.ts";
import { createMemoryStore } from "./runtime/store/memory-store.ts";
import { createValidator } from "./runtime/task/compile-schema.ts";
import type { TaskWorldSettings, World } from "./runtime/task/world.ts";
import { openLogins } from "./tools/mcp/logins.ts";
import { openPins } from "./tools/mcp/pins.ts";
import { createServers } from "./tools/mcp/servers.ts";
import { searchBackend, type WebSearch } from "./tools/parts/search-backends.ts";
import type { ToolParts } from "./tools/parts/tool-parts.ts";

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

/** Finds skills in the same places as the crew. */
type SkillSource = Readonly<{ skills?: () => Promise<readonly Skill[]> }>;

/** The process's existing connection to the engine; absent: a connection is opened on first use. */
export type SharedEngine = Readonly<{ connection?: Connection }>;

/**
 * The outfit of a crew: the parts that all its runs share, such as tools and access rules, and a function that creates
 * the `World` of one run, which holds everything that the run's tasks need.
 */
export type Outfit = Readonly<{
  models: ModelRegistry;
  redactor: Redactor;
  store: RunStore;
  /** Connects to the engine (the database that stores the runs); absent: tasks are executed in this process. */
  connection?(): Promise<Connection>;
  clock(): number;
  random(): number;
  /** Creates delegation tools in the requested spelling. */
  delegation: NonNullable<World["delegation"]>;
  /**
   * Moves protected files to quarantine if the subcrew process of the command that created them has died; returns one
   * line for each file.
   */
  finishCommands(): Promise<readonly string[]>;
  /** The access rules of the crew, before any run narrows them. */
  access(): Promise<AccessParts>;
  /**
   * Creates the world of one run: everything that its tasks work with. `before`: the recorded permissions of a resumed
   * run, which are an upper bound.
   */
  worldFor(roster: Roster, runner: Runner, before?: Permissions): Promise<World>;
}>;

/** Creates the outfit of a crew: the parts that all its runs share. */
export function createOutfit(setup: CrewSetup, code: CrewCode & SkillSource & SharedEngine = {}): Outfit {
  const { cwd, env } = setup;
  const random = code.random ?? ((): number => randomInt(2 ** 32) / 2 ** 32);
  const clock = code.clock ?? Date.now;
  const { store, connection } = openRuns(setup, clock, code.connection);
  const validator = createValidator();
  const { holds, quota } = connection
    ? sharedLimits(connection)
    : { holds: openProviderHolds(setup.home === false ? undefined : join(homeOf(setup), "holds")), quota: undefined };
  const models = modelsFor(setup, { ...defined({ models: code.models, quota }), random, holds });
  const redactor = createRedactor([
    ...secretValues(env),
    ...secretsIn([setup.providers, setup.mcpServers, setup.webSearch, setup.network], env),
    ...(setup.secrets ?? []),
    ...(setup.engine === undefined ? [] : secretsOfUrl(setup.engine)),
  ]);
  const parts: ToolParts = {
    fetch: createGuardedFetch(setup.network, { env }),
    ...(setup.webSearch && { search: searchBackend(setup.webSearch, env) }),
    skills: code.skills ?? ((): Promise<readonly Skill[]> => skillsFor(setup)),
    history: openProjectRuns(store, cwd),
    ...(setup.home !== false && {
      memory: openMemory({ home: homeOf(setup), project: cwd, clock, redact: redactor.text }),
    }),
  };
  const kept = setup.home === false ? undefined : homeOf(setup);
  const pins = openPins(kept);
  const logins = openLogins({ home: kept, learn: redactor.learn });
  let open: ReturnType<typeof createGuardedOpen> | undefined;
  /** The MCP servers that the agents of one run may use. */
  const peersOf = (): PeerTools =>
    createServers({
      servers: setup.mcpServers ?? {},
      pins,
      logins,
      cwd,
      env,
      passEnv: setup.passEnv ?? [],
      open: (open ??= createGuardedOpen(setup.network, { env })),
    });
  let access: Promise<AccessParts> | undefined;
  let tools: World["tools"] | undefined;
  /** Tools by name; they do not change, so all runs of a crew share them. */
  const allTools = async (): Promise<World["tools"]> => {
    if (tools) return tools;
    const [{ builtinTools }, own] = await Promise.all([import("./tools/table.ts"), ownTools(setup)]);
    const all = [...Object.values(builtinTools).map((make) => make(parts)), ...own, ...(code.tools ?? [])];
    return (tools ??= new Map(all.map((tool) => [tool.name, tool])));
  };
  const delegation: Outfit["delegation"] = async (spellings, caller) => {
    const { delegationTools } = await import("./facades/table.ts");
    return delegationTools(
      spellings,
      { ...blockedBy(env), ...caller },
      { ...parts, clock, ...defined({ box: setup.output?.box }) },
    );
  };
  const accessOf = (): Promise<AccessParts> =>
    (access ??= allTools().then((all) => accessTo(setup, [...all.keys()], { store, redact: redactor.text })));
  return {
    models,
    access: accessOf,
    delegation,
    redactor,
    store,
    ...defined({ connection }),
    clock,
    random,
    finishCommands: async () => ((await (await access)?.inFlight.recover()) ?? []).map(asideText),
    worldFor: async (roster, runner, before) => {
      redactor.learn(
        secretsInAgents(
          roster.names().flatMap((name) => roster.find(name) ?? []),
          env,
        ),
      );
      const all = await allTools();
      const clean = oneByOne(redactor.text);
      const outputs: World["outputs"] = {
        recorded: async (id, path, text) => store.recorded(id, path, await clean(text)),
        keep: async (id, path, text) => {
          const cleaned = await clean(text);
          await store.keep(id, path, cleaned);
          return store.file(id, path, { text: cleaned });
        },
        file: async (id, path, outcome) => store.file(id, path, { text: await clean(outputText(outcome)) }),
      };
      return {
        roster,
        peers: peersOf(),
        delegation,
        tools: all,
        access: createRunAccess(before ? restrictTo(await accessOf(), before, [...all.keys()]) : await accessOf()),
        models,
        runner,
        validator,
        settings: withRule(setup, strictestRule(setup.delegation, setup.permissions?.delegation, before?.delegation)),
        redactor,
        clock,
        outputs,
        instructions: instructionsFor(setup),
      };
    },
  };
}

type Env = Readonly<Record<string, string | undefined>>;

/** The project's instructions for agents. Each file that is left out is reported once. */
function instructionsFor(setup: CrewSetup): NonNullable<World["instructions"]> {
  const said = new Set<string>();
  return (agent, folder) => {
    const files = instructionFilesOf(agent.source, agent.projectInstructions);
    if (setup.projectInstructions === false || "why" in files) return { text: "", notes: [] };
    const { text, files: told, left } = readInstructions(files, instructionPlace(setup, folder));
    const all = [
      ...left.map(({ file, why }) => `The instructions in ${file} are left out: ${why}. \`subcrew trust\` shows them.`),
      ...told.flatMap(({ file, cut }) =>
        cut ? [`The instructions in ${file} are too long; a part is left out.`] : [],
      ),
    ];
    const notes = all.filter((line) => !said.has(line));
    for (const line of notes) said.add(line);
    return { text, notes };
  };
}

/** Where instructions for a folder are searched, and which files this crew trusts. */
export function instructionPlace(
  setup: Pick<CrewSetup, "cwd" | "env" | "userHome" | "trusted" | "home" | "permissions">,
  cwd: string,
): InstructionPlace {
  return {
    cwd,
    home: setup.userHome ?? setup.env["HOME"] ?? homedir(),
    trust: projectTrust({ ...setup, state: homeOf(setup) }),
  };
}

/**
 * The skills of a task in another process: from the default places, since the crew's own options are not known in that
 * process.
 */
async function skillsFor(setup: CrewSetup): Promise<readonly Skill[]> {
  const { cwd, env, userHome } = setup;
  const { findSkills } = await import("./defaults.ts");
  const trust = projectTrust({ ...setup, state: homeOf(setup) });
  return (await findSkills({ cwd, home: userHome ?? env["HOME"] ?? homedir(), trust })).all;
}

/**
 * Reads from the environment which agent must not be started. An agent that runs this program as its command sets the
 * variable to its own name, so that it cannot start itself again.
 */
export function blockedBy(env: Env): Pick<Caller, "blocked"> {
  const blocked = env["SUBCREW_BLOCKED_AGENT"] ?? env["PI_BLOCKED_AGENT"];
  return blocked === undefined || blocked === "" ? {} : { blocked };
}

/** The store of a crew's runs. */
export function openStore(setup: Pick<CrewSetup, "home" | "env" | "engine">, clock: () => number = Date.now): RunStore {
  return openRuns(setup, clock).store;
}

/** Opens the store of runs, and the engine if it stores the runs. The engine's code is loaded on first use. */
function openRuns(
  setup: Pick<CrewSetup, "home" | "env" | "engine">,
  clock: () => number,
  shared?: Connection,
): Pick<Outfit, "store" | "connection"> {
  const { engine } = setup;
  if (engine !== undefined && shared) return { store: shared.store, connection: async () => shared };
  const home = setup.home === false ? undefined : homeOf(setup);
  if (engine === undefined) return { store: home === undefined ? createMemoryStore(clock) : createFolderStore(home) };
  const local = besideEngine(setup, clock);
  const shown = shownUrl(engine);
  let connected: Promise<Connection> | undefined;
  const connection = (): Promise<Connection> =>
    (connected ??= import("./engines/connect.ts").then(({ connectEngine }) =>
      connectEngine(engine, { local, env: setup.env }),
    ));
  const store = lazyStore(async () => (await connection()).store, {
    place: (run) => `${shown} (${run})`,
    local: local.local,
  });
  return { store, connection };
}

/** The local files of runs whose records are in the engine's database. */
function besideEngine(setup: Pick<CrewSetup, "home" | "env">, clock: () => number): RunStore {
  return setup.home === false ? createMemoryStore(clock) : createFolderStore(join(homeOf(setup), "engine"));
}

/** Connects to the engine that a setup names, as a worker. */
export async function connectWorker(
  setup: Pick<CrewSetup, "home" | "env"> & Readonly<{ engine: string }>,
  worker: WorkerRole,
): Promise<Connection> {
  const { connectEngine } = await import("./engines/connect.ts");
  return connectEngine(setup.engine, { local: besideEngine(setup, Date.now), worker, env: setup.env });
}

/**
 * Limits on model requests, and the API keys that a provider refused. Both are shared with all processes of an engine.
 */
function sharedLimits(connection: () => Promise<Connection>): Readonly<{ holds: ProviderHolds; quota: RequestQuota }> {
  const holds = async (): Promise<ProviderHolds> => (await connection()).holds;
  return {
    holds: {
      look: async (key) => (await holds()).look(key),
      lookLater: async (key) => (await holds()).lookLater(key),
      put: async (key, change) => (await holds()).put(key, change),
      lift: async (key) => (await holds()).lift(key),
      claimProbe: async (key) => (await holds()).claimProbe(key),
    },
    quota: { enter: async (request, options) => (await connection()).quota.enter(request, options) },
  };
}

/** The folder in which a crew stores its data. */
export function homeOf({ home, env }: Pick<CrewSetup, "home" | "env">): string {
  return (home === false ? undefined : home) ?? env["SUBCREW_HOME"] ?? join(env["HOME"] ?? homedir(), ".subcrew");
}

/** The access rules of a crew. Throws if a required sandbox is not available. */
async function accessTo(
  setup: CrewSetup,
  tools: readonly string[],
  { store, redact }: Pick<Outfit, "store"> & Readonly<{ redact: Redactor["text"] }>,
): Promise<AccessParts> {
  const kept = setup.home === false ? undefined : openKeptRules(homeOf(setup));
  const agreed = (await kept?.read(setup.cwd)) ?? [];
  const parts = accessParts(
    agreed.length === 0 ? (setup.permissions ?? {}) : withPermissions({ allow: [...agreed] }, setup.permissions),
    {
      cwd: setup.cwd,
      home: setup.env["HOME"],
      state: homeOf(setup),
      kept: setup.home !== false,
      finisher: finisherFile(),
      env: setup.env,
      outputs: (run) => store.local(run, "outputs"),
      changes: (run, isClosed) => recorderFor(store, run, setup.env["HOME"], isClosed),
      redact,
    },
    tools,
  );
  await demandSandbox(parts);
  return { ...parts, session: [], ...(kept && { keep: (rules, scope) => kept.keep(rules, scope, setup.cwd) }) };
}

/**
 * The path of the built program that moves files to quarantine; `undefined` when only its TypeScript source exists,
 * which Node cannot run.
 */
function finisherFile(): string | undefined {
  const url = childEntry("quarantine-child");
  return url?.pathname.endsWith(".js") ? fileURLToPath(url) : undefined;
}

async function ownTools({ cwd, toolModules = [] }: CrewSetup): Promise<readonly Tool[]> {
  if (toolModules.length === 0) return [];
  const { loadToolModule } = await import("./tools/module.ts");
  return (await Promise.all(toolModules.map((file) => loadToolModule(file, cwd)))).flat();
}

function modelsFor(
  { cwd, env, model, providers, tiers, network }: CrewSetup,
  {
    models,
    random,
    holds,
    quota,
  }: Pick<CrewCode, "models"> &
    Pick<ModelRegistryConfig, "quota"> &
    Readonly<{ random(): number; holds: ProviderHolds }>,
): ModelRegistry {
  const named = model ?? env["SUBCREW_MODEL"];
  return createModelRegistry({
    env,
    random,
    holds,
    builtin: builtinModels(cwd),
    ...defined({ models, quota, providers, tiers, network }),
    ...(named !== undefined && named !== "" && named !== "auto" && { default: named }),
  });
}

/** Texts with more characters than this are redacted one at a time, so that other work can run in between. */
const LONG_CHARS = 1_000_000;

function oneByOne(clean: (text: string) => string): (text: string) => Promise<string> {
  let last: Promise<unknown> = Promise.resolve();
  return async (text) => {
    if (text.length < LONG_CHARS) return clean(text);
    const mine = last.then(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return clean(text);
    });
    last = mine.catch(() => {});
    return mine;
  };
}

/**
 * The settings of one run. Each run gets a copy, because values derived from the settings are cached by this object.
 */
const withRule = (setup: CrewSetup, delegation: DelegationRule | undefined): CrewSetup => ({
  ...setup,
  ...defined({ delegation }),
});

/**
 * The strictest of several rules: a `ceiling` (subagents get at most their parent's tools) set by any source applies,
 * and resuming does not remove it.
 */
const strictestRule = (...rules: readonly (DelegationRule | undefined)[]): DelegationRule | undefined =>
  rules.includes("ceiling") ? "ceiling" : undefined;
