import type { Config } from "../../core/config/config.ts";
import type { RunAbove } from "../../core/delegation/run-above.ts";
import type { Body, Plan } from "../../core/plan/plan.ts";
import type { BudgetLimits } from "../../core/run/budget.ts";
import type { BudgetReply, BudgetRequest } from "../../core/run/budget-request.ts";
import type { KeptEvent } from "../../core/run/event.ts";
import type { RunStore } from "../../core/run/run-store.ts";
import type { Redactor } from "../../core/secrets/redact.ts";
import type { Parent } from "../../core/task/engine.ts";
import type { RunParts } from "../execute/scope.ts";
import type { ResumedPart } from "../resume/resume-run.ts";

/** Everything that a run is started with, after its agents and models were resolved and checked. */
export type Start = RunParts &
  Readonly<{
    plan: Plan;
    clock(): number;
    /** The redactor of the run. Without it, only text that looks like a secret is removed. */
    redactor?: Redactor;
    version: string;
    cwd: string;
    /** The part of the run to resume; set when an earlier process began this run. */
    resume?: ResumedPart;
    /** The agent that started this run, if any: its permissions limit those of the run. */
    parent?: Parent & Readonly<{ depth: number }>;
    /** The run with the task whose program started this run, if there is one. */
    above?: ParentRun;
    /** What the first event says about agents, models, settings and permissions. */
    begins?: Partial<Extract<KeptEvent, { type: "run.started" }>>;
    /** Warnings to report at the start of the run. */
    warnings?: readonly StartWarning[];
    /** Throws for nodes that this crew cannot execute; called for nodes that are added to a running plan. */
    check?(body: Body): void;
    /** Resolves when everything that the run's tasks started has ended. */
    gone?(): Promise<void>;
    /** The store of runs; absent: the run knows of no other runs. */
    store?: RunStore;
    settings?: Config;
    /** The folder for data that outlives runs; absent: there is none. */
    home?: string;
    /** The name by which leases refer to the workspace. */
    workspace?: string;
    /** The environment variables of this process. */
    env?: Readonly<Record<string, string | undefined>>;
  }>;

/** The run with the task whose program started this run. `budget` is absent if that run is in another store. */
export type ParentRun = RunAbove & Readonly<{ budget?: BudgetAbove }>;

/** The budget of the parent run. */
export type BudgetAbove = Readonly<{
  limits: BudgetLimits;
  /** How many agents the parent run may still start. */
  spawns: number | undefined;
  /** The limits of this run: its own limits, and what is left of the limits of the parent run. */
  left(own: BudgetLimits): BudgetLimits;
  /**
   * Sends a request to the parent run. `undefined`: no process works on that run, so only this run's own limits apply.
   */
  ask(request: BudgetRequest, signal: AbortSignal): Promise<BudgetReply | undefined>;
}>;

export type StartWarning = Readonly<{ code: string; text: string }>;
