import { randomInt } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Agent } from "./core/agent.ts";
import type { BudgetLimits } from "./core/budget.ts";
import { checkAgents } from "./core/check.ts";
import type { ModelWish } from "./core/choose-model.ts";
import { CrewError } from "./core/error.ts";
import type { AnyInput } from "./core/input.ts";
import type { Model } from "./core/model.ts";
import type { Body, Plan } from "./core/plan.ts";
import { createRedactor } from "./core/redact.ts";
import { secretsIn, secretValues } from "./core/secret-forms.ts";
import { emptyState, reduce, type State } from "./core/state.ts";
import type { Tool } from "./core/tool.ts";
import { builtinModels, builtinRunner, builtinTools, findAgents, makeEngine } from "./defaults.ts";
import type { LanguageModel } from "./models/is-language-model.ts";
import type { ModelOverview } from "./models/overview.ts";
import { createModelRegistry, noModel, type ModelConfig, type ModelRegistry } from "./models/registry.ts";
import { compile, type Input } from "./modes/compile.ts";
import { buildContext } from "./runtime/context.ts";
import { createDiscoveryCache, findAgent, type Discovery } from "./runtime/discover.ts";
import { drive, type Start } from "./runtime/drive.ts";
import { createGuardedFetch, type NetworkRules } from "./runtime/guarded-fetch.ts";
import { memoryJournal, openJournal, readJournal } from "./runtime/journal.ts";
import { openMemory } from "./runtime/memory.ts";
import { createPerformer } from "./runtime/perform.ts";
import { Run } from "./runtime/run.ts";
import { createStore, runId, type Store } from "./runtime/store.ts";
import { openTrust, trustEverything } from "./runtime/trust.ts";
import { createValidator } from "./runtime/validate.ts";
import type { Roster, World } from "./runtime/world.ts";
import { version } from "./core/version.ts";
import type { ToolParts } from "./tools/parts.ts";
import { searchBackend, type WebSearch } from "./tools/search-backends.ts";

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
  tools?: readonly Tool[];
  /** Models of one's own, or model objects of the AI SDK's ecosystem, by the names they get here. */
  models?: Readonly<Record<string, Model | LanguageModel>>;
  /** Addresses, keys and headers of known providers, and providers of one's own. */
  providers?: ModelConfig["providers"];
  /** What `fast`, `balanced` and `powerful` mean here. */
  tiers?: ModelConfig["tiers"];
  /** The model of tasks for which nobody names one: by default the first of `models`, the first with a key, or offline. */
  model?: string;
  concurrency?: number;
  /** Nobody is there to answer gates. */
  unattended?: boolean;
  env?: Readonly<Record<string, string | undefined>>;
  /** Variables that tasks and their programs may see besides PATH, HOME and the like. */
  passEnv?: readonly string[];
  /** Values that must not be seen anywhere, besides those of variables whose name says so. */
  secrets?: readonly string[];
  /** What the network tools may reach besides the public internet. */
  network?: NetworkRules;
  /** The search engine behind `web_search`; none by default. */
  webSearch?: WebSearch;
  clock?: () => number;
  random?: () => number;
}>;

/** What is different about one run. */
export type RunOptions = Readonly<{
  name?: string;
  concurrency?: number;
  maxTimeMs?: number;
  maxDepth?: number;
  /** What the run and everything below it may use. */
  budget?: BudgetLimits;
  unattended?: boolean;
  /** A placeholder that refers to nothing is an error. */
  strict?: boolean;
}>;

export type ResumeOptions = RunOptions & Readonly<{ /** Try again what failed, too. */ retryFailed?: boolean }>;

/** The composition root: every surface makes one of these and asks it for runs. */
export type Crew = Readonly<{
  run(what: Input | Plan | AnyInput, options?: RunOptions): Run;
  /** Goes on with a run that was interrupted or cancelled; of one that ended, the result. */
  resume(id: string, options?: ResumeOptions): Run;
  /** Every agent there is right now, and what came and went since the last time. */
  agents(): Promise<Discovery>;
  /** What names of models mean here, and which providers can be used. */
  models(): Promise<ModelOverview>;
  /** The ids of the runs that were kept, newest first. */
  runs(): Promise<readonly string[]>;
  /** The id of the run that an id, the beginning of one, or a name means. */
  findRun(word: string): Promise<string>;
  /** What is recorded about a run. */
  record(id: string): Promise<State>;
  cwd: string;
}>;

/** A crew that knows nothing of any other in the process. */
export function createCrew(options: CrewOptions = {}): Crew {
  const cwd = resolve(options.cwd ?? process.cwd());
  const env = options.env ?? process.env;
  const store = storeOf(options, env);
  const random = options.random ?? ((): number => randomInt(2 ** 32) / 2 ** 32);
  const clock = options.clock ?? Date.now;
  const validator = createValidator();
  const cache = createDiscoveryCache();
  const found = (): Promise<Discovery> => {
    const trust = options.trusted === true ? trustEverything : openTrust(join(homeOf(options, env), "trust.json")).trust;
    const nowhere = options.discover === false ? { sources: [] } : {};
    return findAgents({ cwd, home: options.userHome ?? env["HOME"] ?? homedir(), trust, cache, ...nowhere });
  };
  const models = modelsFor(options, { cwd, env, random });
  const redactor = createRedactor([...secretValues(env), ...secretsIn(options.providers), ...(options.secrets ?? [])]);
  const parts: ToolParts = {
    fetch: createGuardedFetch(options.network),
    ...(options.webSearch && { search: searchBackend(options.webSearch, env) }),
    ...(options.home !== false && { memory: openMemory({ home: homeOf(options, env), project: cwd, clock }) }),
  };

  /** Everything a run needs, checked; nothing has happened yet when this throws. */
  const prepare = async (run: string, plan: Plan, { strict: _strict, ...more }: RunOptions): Promise<Start> => {
    const roster = rosterOf(options.agents ?? [], await found());
    const check = (wanted: Body): void => checkAgents(wanted, (name) => roster.find(name) !== undefined, roster.names);
    check(plan);
    await checkModels(plan, models);
    if (more.budget?.maxUsd !== undefined) await models.loadPrices();
    const world: World = {
      roster,
      tools: new Map([...(await builtinTools(parts)), ...(options.tools ?? [])].map((tool) => [tool.name, tool])),
      models,
      runner: builtinRunner,
      validator,
      cwd,
      env,
      passEnv: options.passEnv ?? [],
      redactor,
      clock,
      keep: async (id, path, text) => store?.keep(id, path, redactor.text(text)),
    };
    const engine = makeEngine({
      perform: createPerformer(world),
      journal: async (id, listener) => (store ? openJournal(store.folder(id), listener) : memoryJournal(listener)),
    });
    const concurrency = more.concurrency ?? options.concurrency;
    const unattended = more.unattended ?? options.unattended;
    return {
      plan,
      engine,
      clock,
      random,
      redactor,
      version,
      cwd,
      context: plan.context ? redactor.text(await buildContext(cwd, plan.context)) : "",
      compile: (what) => {
        const inner = compile(what);
        check(inner);
        return inner;
      },
      ...more,
      ...(concurrency !== undefined && { concurrency }),
      ...(unattended !== undefined && { unattended }),
      ...((more.name ?? plan.name) !== undefined && { name: more.name ?? plan.name ?? run }),
    };
  };

  return {
    cwd,
    agents: found,
    models: async () => (await import("./models/overview.ts")).overviewOf(models),
    runs: async () => (await store?.list()) ?? [],
    findRun: (word) => needed(store).find(word),
    record: async (id) => (await readJournal(needed(store).folder(id))).events.reduce(reduce, emptyState(id)),
    run: (what, more = {}) => {
      const id = runId(random);
      return new Run(id, async (it) => drive(await prepare(id, compile(what, { strict: more.strict ?? false }), more), it));
    },
    resume: (id, more = {}) => new Run(id, async (it) => takeUp(needed(store), it, more, prepare)),
  };
}

type Prepare = (run: string, plan: Plan, options: RunOptions) => Promise<Start>;

/** Goes on where the journal of a run ends; a run that ended is only told again. */
async function takeUp(store: Store, it: Parameters<typeof drive>[1], { retryFailed = false, ...more }: ResumeOptions, prepare: Prepare): Promise<void> {
  const folder = store.folder(it.run);
  const { events } = await readJournal(folder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new CrewError("UNKNOWN_RUN", `There is no run "${it.run}".`, "See `subcrew runs` for those that were kept.") : error;
  });
  const started = events[0];
  if (started?.type !== "run.started") throw new CrewError("RUN_DAMAGED", `The run "${it.run}" stopped before it began.`, "Start it again.");
  const last = events.findLast(({ type }) => type === "run.ended");
  const over = last?.type === "run.ended" && last.seq === events.length && (last.outcome.status === "ok" || (last.outcome.status === "failed" && !retryFailed));
  if (over) return events.forEach(it.publish);
  const start = await prepare(it.run, started.plan, more);
  await drive({ ...start, ...(started.name !== undefined && { name: started.name }), takesUp: { retryFailed } }, it);
}

type Env = Readonly<Record<string, string | undefined>>;

function homeOf({ home }: CrewOptions, env: Env): string {
  return (home === false ? undefined : home) ?? env["SUBCREW_HOME"] ?? join(env["HOME"] ?? homedir(), ".subcrew");
}

function storeOf(options: CrewOptions, env: Env): Store | undefined {
  return options.home === false ? undefined : createStore(homeOf(options, env));
}

function needed(store: Store | undefined): Store {
  if (store) return store;
  throw new CrewError("UNKNOWN_RUN", "This crew keeps no runs, so none can be resumed.", "Give it a `home`.");
}

function rosterOf(given: readonly Agent[], found: Discovery): Roster {
  return {
    find: (name) => {
      const agent = given.find((one) => one.name === name) ?? findAgent(found, name)?.agent;
      if (agent || !found.untrusted.some((one) => one.name === name)) return agent;
      throw new CrewError("UNTRUSTED", `The agent "${name}" belongs to this project, which is not trusted.`, "Look at it with `subcrew agents show`, then trust the project with `subcrew trust`.");
    },
    names: () => [...new Set([...given, ...found.agents].map(({ name }) => name))],
  };
}

function modelsFor({ models, model, providers, tiers }: CrewOptions, { cwd, env, random }: { cwd: string; env: Env; random: () => number }): ModelRegistry {
  const named = model ?? env["SUBCREW_MODEL"];
  return createModelRegistry({
    env,
    random,
    builtin: builtinModels(cwd),
    ...(models && { models }),
    ...(providers && { providers }),
    ...(tiers && { tiers }),
    ...(named !== undefined && named !== "" && named !== "auto" && { default: named }),
  });
}

/** A model that a task names has to exist before anything starts; the default one, when some task names none. */
async function checkModels(body: Body, models: ModelRegistry): Promise<void> {
  const asked = new Map<string, readonly ModelWish[]>();
  for (const node of Object.values(body.nodes)) {
    if (node.kind === "loop") await checkModels(node.body, models);
    if (node.kind !== "task") continue;
    const { model } = node.task;
    asked.set([model ?? ""].flat().join(), model === undefined ? [] : [{ by: "call", names: model }]);
  }
  for (const wishes of asked.values()) {
    const found = await models.choose(wishes, { binding: "call" });
    if ("misses" in found) throw noModel(found.misses);
  }
}
