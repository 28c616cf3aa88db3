import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Agent } from "./core/agent/agent.ts";
import { withCanonicalTools } from "./core/agent/canonical-tools.ts";
import { secretsInAgents } from "./core/secrets/secrets-in-agents.ts";
import { defined } from "./core/text/defined.ts";
import { DEFAULT_MAX_DEPTH } from "./core/vocabulary/limits.ts";
import { explainFor } from "./crew/explain/explain.ts";
import { checkCrewOptions } from "./crew/check-options.ts";
import { createFinds } from "./crew/prepare/finds.ts";
import { isOwnTool } from "./crew/prepare/known-agents.ts";
import type { CrewOptions } from "./crew/outfit/options.ts";
import type { DataByAgent } from "./crew/run-input.ts";
import { settingsFor, setupOf, withSettings } from "./crew/settings.ts";
import { compile } from "./modes/compile.ts";
import { homeOf } from "./crew/outfit/setup.ts";
import { createOutfit } from "./crew/outfit/outfit.ts";
import type { SharedEngine } from "./crew/outfit/open-runs.ts";
import { keptRuns } from "./runtime/background/stored-runs.ts";
import type { Trust } from "./runtime/discovery/discover.ts";
import { projectTrust } from "./runtime/settings/project-trust.ts";
import { type ContinueOptions, continueTask } from "./runtime/resume/continue-task.ts";
import { foldWhole } from "./runtime/store/fold-journal.ts";
import { runNamed } from "./runtime/store/run-id.ts";
import type { Crew, Starter } from "./crew/crew-type.ts";
import { createListings } from "./crew/listings.ts";
import { RunHandle } from "./crew/run-handle.ts";
import { createRuns } from "./crew/runs.ts";

/** Creates a crew. It shares no state with other crews in the process. */
export function createCrew<const Agents extends readonly Agent[] = readonly []>(
  given: CrewOptions<Agents> = {},
  shared: SharedEngine = {},
): Crew<DataByAgent<Agents>> {
  checkCrewOptions(given);
  const cwd = resolve(given.cwd ?? process.cwd());
  const env = given.env ?? process.env;
  const state = homeOf({ ...given, env });
  const where = { cwd, home: given.userHome ?? env["HOME"] ?? homedir() };
  const trust = (permissions = given.permissions): Trust => projectTrust({ ...given, permissions, cwd, env, state });
  const settings = settingsFor(given.config, { ...where, state, env, trust: trust() });
  const { config } = settings;
  const isOwn = isOwnTool(given.tools);
  const options = withSettings(
    { ...given, ...(given.agents && { agents: given.agents.map((agent) => withCanonicalTools(agent, isOwn)) }) },
    settings,
  );
  const setup = setupOf(options, { cwd, env });
  const outfit = createOutfit(setup, { ...options, ...shared, skills: async () => (await listings.skills()).all });
  const { models, redactor, store } = outfit;
  const learn = (known: readonly Agent[]): void => redactor.learn(secretsInAgents(known, env));
  learn(options.agents ?? []);
  const anywhere = options.discover !== false;
  const finds = createFinds({ ...where, anywhere, settings, trust: () => trust(options.permissions), learn });
  const listings = createListings(options, finds, redactor);
  const { run, ...runs } = createRuns({ options, config, setup, outfit, finds });
  const changes: Crew["changes"] = async (id, selection) =>
    (await import("./crew/run-changes.ts")).reportChanges(outfit, id, selection);
  const undo: Crew["undo"] = async (id, more) => (await import("./crew/run-changes.ts")).undoRun(store, id, more);
  return {
    ...runs,
    changes,
    undo,
    open: (id, view) => new RunHandle(id, { ...runs, store, changes, undo }, view),
    ...listings,
    run: run as Starter<DataByAgent<Agents>>,
    cwd,
    setupFor: (changes) => ({ ...setup, ...changes }),
    settings,
    agents: finds.agents,
    masked: redactor.knownDeep,
    plan: (what) => compile(what, defined({ references: config.references })),
    outputFile: (id, path) => store.file(id, path),
    delegationTools: async (spellings, caller = {}) =>
      outfit.delegation(spellings, {
        agent: "subcrew",
        spawns: "*",
        depth: 0,
        maxDepth: config.maxDepth ?? DEFAULT_MAX_DEPTH,
        catalog: await listings.catalog(),
        ...caller,
      }),
    explain: async (agent, call = { flags: {} }) => {
      const explained = await explainFor(agent, call, { outfit, setup, settings });
      return { ...explained, fields: redactor.knownDeep(explained.fields) };
    },
    models: async ({ probe } = {}) => {
      const { overviewOf, probedOverview } = await import("./models/registry/overview.ts");
      return probe ? probedOverview(models, probe) : overviewOf(models);
    },
    runs: () => store.list(),
    findRun: (word) => runNamed(store, word),
    record: (id) => foldWhole(store, id),
    continuing: (task) => continueTask(store, { ...config.resume, ...task, now: outfit.clock() } as ContinueOptions),
    kept: keptRuns(store),
  };
}
