import type { Agent } from "../../src/core/agent/agent.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import type { Permissions } from "../../src/core/policy/permissions.ts";
import type { BudgetLimits } from "../../src/core/run/budget.ts";
import type { Event, KeptEvent } from "../../src/core/run/event.ts";
import { emptyState, reduce } from "../../src/core/run/state.ts";
import { isCrewError } from "../../src/core/schema/error.ts";
import { createRedactor } from "../../src/core/secrets/redact.ts";
import type { Engine, Perform } from "../../src/core/task/engine.ts";
import { localEngine } from "../../src/engines/local.ts";
import { retrying } from "../../src/models/registry/retrying.ts";
import { compile } from "../../src/modes/compile.ts";
import { createRunAccess } from "../../src/runtime/access/access.ts";
import { accessParts, restrictTo } from "../../src/runtime/access/crew-access.ts";
import type { Disk } from "../../src/runtime/disk/disk.ts";
import { openPreviousRuns } from "../../src/runtime/resume/previous-runs.ts";
import { loop } from "../../src/runtime/loop/loop.ts";
import { drive } from "../../src/runtime/features/drive.ts";
import { runFeatures } from "../../src/runtime/features/features.ts";
import { Run } from "../../src/runtime/run/run.ts";
import { createFolderStore } from "../../src/runtime/store/folder-store.ts";
import { createPerformer } from "../../src/runtime/task/perform.ts";
import { createValidator } from "../../src/runtime/task/compile-schema.ts";
import { agents, allowed, modelOn, SECRET, type Stage, toolsOn } from "./cast.ts";

export const RUN = "run_simulation00";
export const HOME = "/state";

/** The world of one process of a simulation: everything random or external comes from here. */
export type LifeParts = Readonly<{
  number: number;
  stage: Stage;
  disk: Disk;
  plan: Plan;
  slots: number;
  budget?: BudgetLimits;
  /** Tasks wait for a provider that refuses the key. */
  parks: boolean;
  /** The clock of the machine, which people may change. */
  clock(): number;
  /** The permissions that this process gets. */
  permissions: Permissions;
  duplicates(): boolean;
  published(event: Event): void;
  performed(key: string): void;
  /** Only this task continues, of those that have not ended. */
  resumesOne?: number;
}>;

/** A process that works on the run: the run, and the events of the journal when it began. */
export type Life = Readonly<{ run: Run; past: readonly KeptEvent[] }>;

/**
 * Starts a process as the command does: it reads the journal and continues the run; `undefined` if the run has ended.
 */
export async function begin(parts: LifeParts): Promise<Life | undefined> {
  const { stage, disk, plan, clock, permissions, published } = parts;
  const store = createFolderStore(HOME, disk);
  const { events: past } = await store.readWhole(RUN).catch((error: unknown) => {
    if (isCrewError(error) && error.code === "UNKNOWN_RUN") return { events: [] };
    throw error;
  });
  if (past.at(-1)?.type === "run.ended") return undefined;
  const tools = toolsOn(stage);
  const names = tools.map(({ name }) => name);
  const access = accessParts(
    past.length > 0 ? permissions : allowed,
    { cwd: "/", home: undefined, env: {}, state: HOME },
    names,
  );
  const bounded = createRunAccess(past.length > 0 ? restrictTo(access, allowed, names) : access);
  const redactor = createRedactor([SECRET]);
  const model = retrying(modelOn(stage), { random: stage.dice.random });
  const perform = createPerformer({
    roster: { find: (name) => agents.find((agent: Agent) => agent.name === name), names: () => agents.map(nameOf) },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    models: { choose: async () => ({ name: "m", id: "m", ref: "m", why: "it is the only one", model }) },
    runner: loop,
    validator: createValidator(),
    settings: { cwd: "/", env: {} },
    access: {
      policyFor: bounded.policyFor,
      // This call resolves the working folder, which is a real one: the root of the file system.
      accessFor: (task) => stage.time.outside(() => bounded.accessFor(task)),
    },
    earlier: openPreviousRuns(past, { store }),
    redactor,
    clock,
    outputs: {
      recorded: (run, path, text) => store.recorded(run, path, redactor.text(text)),
      keep: async (run, path, text) => {
        await store.keep(run, path, redactor.text(text));
        return store.place(run);
      },
      file: async (run) => store.place(run),
    },
  });
  const engine = localEngine({
    perform: counted(perform, parts),
    journal: store.open,
  });
  const run = new Run(RUN, (it) =>
    drive(
      runFeatures,
      {
        plan,
        engine: parts.duplicates() ? twice(engine) : engine,
        clock,
        random: stage.dice.random,
        redactor,
        version: "0",
        cwd: "/",
        context: "",
        compile: (what) => compile(what),
        parameters: { concurrency: parts.slots, ...(parts.budget && { budget: parts.budget }) },
        ...(parts.parks && { parks: { onLimit: "end" as const, onProviderFault: "park" as const } }),
        begins: { permissions: allowed },
        ...(past.length > 0 && { resume: { retryFailed: false, ...oneOf(past, parts) } }),
      },
      {
        ...it,
        publish: (event) => {
          published(event);
          it.publish(event);
        },
      },
    ),
  );
  return { run, past };
}

/** One of the tasks that have started and not ended, if only one is to be resumed. */
function oneOf(past: readonly KeptEvent[], { plan, resumesOne }: LifeParts): { task?: string } {
  const { nodes } = past.reduce(reduce, emptyState(RUN));
  const open = Object.keys(plan.nodes).filter((id) => nodes.get(id)?.status === "running");
  return resumesOne === undefined || open.length === 0 ? {} : { task: open[resumesOne % open.length]! };
}

const nameOf = ({ name }: Agent): string => name;

/** Reports every call that is really executed. */
const counted =
  (perform: Perform, { performed }: LifeParts): Perform =>
  (call, context) => {
    performed(`${call.path}#${call.attempt}`);
    return perform(call, context);
  };

/** An engine that gets every request twice. */
const twice = (engine: Engine): Engine => ({
  ...engine,
  perform: (call, context) => {
    void engine.perform(call, context);
    return engine.perform(call, context);
  },
  give: async (key, answer) => {
    const [first] = await Promise.all([engine.give(key, answer), engine.give(key, answer)]);
    return first;
  },
});
