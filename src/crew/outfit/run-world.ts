import type { DelegationRule } from "../../core/agent/agent.ts";
import type { Roster } from "../../core/delegation/roster.ts";
import { outputText } from "../../core/outcome/outcome.ts";
import type { Permissions } from "../../core/policy/permissions.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import { secretsInAgents } from "../../core/secrets/secrets-in-agents.ts";
import type { Runner } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import type { ModelRegistry } from "../../models/registry/registry.ts";
import { createRunAccess } from "../../runtime/access/access.ts";
import { type AccessParts, restrictTo } from "../../runtime/access/crew-access.ts";
import { createValidator } from "../../runtime/task/compile-schema.ts";
import type { World } from "../../runtime/task/world.ts";
import type { CrewSetup } from "./setup.ts";
import { instructionsFor } from "./instructions.ts";
import type { CrewTools } from "./open-tools.ts";

type WorldParts = Readonly<{
  setup: CrewSetup;
  store: RunStore;
  redactor: Redactor;
  models: ModelRegistry;
  tools: CrewTools;
  access(): Promise<AccessParts>;
  clock(): number;
}>;

/**
 * Creates the world of one run: everything that its tasks work with. `before`: the recorded permissions of a resumed
 * run, which are an upper bound.
 */
export type WorldFor = (roster: Roster, runner: Runner, before?: Permissions) => Promise<World>;

export function worldsOf({ setup, store, redactor, models, tools, access, clock }: WorldParts): WorldFor {
  const validator = createValidator();
  return async (roster, runner, before) => {
    const known = roster.names().flatMap((name) => roster.find(name) ?? []);
    redactor.learn(secretsInAgents(known, setup.env));
    const all = await tools.all();
    const parts = await access();
    return {
      roster,
      peers: tools.peers(),
      delegation: tools.delegation,
      tools: all,
      access: createRunAccess(before ? restrictTo(parts, before, [...all.keys()]) : parts),
      models,
      runner,
      validator,
      settings: withRule(setup, strictestRule(setup.delegation, setup.permissions?.delegation, before?.delegation)),
      redactor,
      clock,
      outputs: outputsOf(store, redactor),
      instructions: instructionsFor(setup),
    };
  };
}

/** The outputs of a run's tasks, which are stored without secrets. */
function outputsOf(store: RunStore, redactor: Redactor): World["outputs"] {
  const clean = oneByOne(redactor.text);
  return {
    recorded: async (id, path, text) => store.recorded(id, path, await clean(text)),
    keep: async (id, path, text) => {
      const cleaned = await clean(text);
      await store.keep(id, path, cleaned);
      return store.file(id, path, { text: cleaned });
    },
    file: async (id, path, outcome) => store.file(id, path, { text: await clean(outputText(outcome)) }),
  };
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
