import type { Catalog } from "../../core/delegation/catalog.ts";
import type { MissingAgent } from "../../core/delegation/roster.ts";
import type { Outcome } from "../../core/outcome/outcome.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Isolation, Worktree } from "../../core/plan/isolation.ts";
import type { Body, Plan } from "../../core/plan/plan.ts";
import type { Task } from "../../core/plan/task.ts";
import type { Policy } from "../../core/policy/policy.ts";
import type { Budget } from "../../core/run/budget.ts";
import type { Delta, Fact, ParkRules, KeptEvent, RunEnvironment } from "../../core/run/event.ts";
import type { History } from "../../core/run/history.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import type { Lookup } from "../../core/schedule/fill-references.ts";
import type { Call, Engine, FilesOf, PerformContext, UnawaitedHelpers } from "../../core/task/engine.ts";
import type { ForkPoint } from "../../core/task/fork-point.ts";
import type { Release, Slots } from "../async/slots.ts";
import type { Leases } from "./leases.ts";
import type { Mailbox } from "./mailbox.ts";
import type { StoppableNodes } from "./stoppable-nodes.ts";

/** The parts of a run that all its plans share and that are given at its start. */
export type RunParts = Readonly<{
  engine: Engine;
  /** All options of the run; each node reads the options that concern it. */
  parameters: RunParameters;
  /** Whether tasks park (wait) instead of failing at a limit or a fault of a provider; absent: they fail. */
  parks?: ParkRules;
  /** Context text for every task, collected once. */
  context: string;
  /** The date and the state of the repository at the start, which every task is told. */
  environment?: RunEnvironment;
  /** Compiles and checks a plan that an agent wants to start. */
  compile(what: AnyInput | Plan): Plan;
  /** A file of this machine that will have the output of a node; absent or `undefined`: the store creates no files. */
  outputFile?(path: string): Promise<string | undefined>;
  /** Starts subagents that continue after the run; absent: subagents end with the task that started them. */
  background?: UnawaitedHelpers;
  /** Stores the agents of tasks that are added to the plan; returns their hashes, to be recorded. */
  carry?(body: Pick<Body, "nodes">): Readonly<Record<string, string>>;
  /** Why the agent of a task is missing; absent for a new run, whose agents were found. */
  missingAgent?(task: Task): MissingAgent | undefined;
  /** The currently available agents; absent where agents cannot be searched. */
  agents?(): Promise<Catalog>;
  /**
   * The agent of a task that names no agent, and the agent that must not be started again; absent: every task names its
   * agent.
   */
  spawning?: Readonly<{ nameOf(task: Task): string; blocked?: string }>;
  /** Worktrees for nodes that contain plans; absent where worktrees are not possible. */
  worktrees?: NodeWorktrees;
  /** Random number in [0, 1) for jitter. */
  random(): number;
}>;

/** Lets a node work in a worktree whose changes are applied once the node has claimed a winner's place in its race. */
export type NodeWorktrees = Readonly<{
  /** How a task is isolated from the workspace; `undefined`: it works in the workspace directly. */
  isolationOf(task: Task, depth: number): Isolation | undefined;
  run(node: IsolatedNode, work: (worktree: Worktree) => Promise<Outcome>): Promise<Outcome>;
}>;

/**
 * A node in a worktree of its own. `isBegun`: an earlier process created that worktree; `hasWorked`: tasks have ended
 * in it.
 */
export type IsolatedNode = Readonly<{
  call: Call;
  dirty: boolean;
  isBegun: boolean;
  hasWorked: boolean;
  context: Pick<PerformContext, "ask" | "attended" | "claim" | "emit" | "signal">;
}>;

/** State that all plans of one run share. */
export type RunScope = RunParts &
  Readonly<{
    id: string;
    history: History;
    emit(path: string, fact: Fact): void;
    live(path: string, delta: Delta): void;
    /** Resolves once everything emitted so far is safely stored. */
    durable(): Promise<void>;
    /**
     * The recorded events of a task's current attempt, including events of this process; absent where nothing is
     * recorded.
     */
    recorded?(path: string): Promise<readonly KeptEvent[]>;
    /** The files that a node and everything below it changed so far, as text; absent where nothing is recorded. */
    changedBelow?(path: string): Promise<readonly string[]>;
    budget: Budget;
    mailbox: Mailbox;
    /** The leases (files to write) of running and waiting tasks. */
    leases: Leases;
    /** Every node that waits for its slot or runs. */
    stoppable: StoppableNodes;
    /** True if a question of this task, or this call of it, was answered while no process worked on the run. */
    hasSavedAnswer?(path: string, call?: string): boolean;
    /** Redacts a text for the journal. */
    redact(text: string): string;
    /** The function that executes plans, for nodes that contain or start plans of their own. */
    execute(body: Body, scope: PlanScope): Promise<PlanOutcome>;
  }>;

/** The scope of one plan: where it is in the run, and what it inherits from the task or loop around it. */
export type PlanScope = Readonly<{
  run: RunScope;
  /** The prefix of the paths of the plan's nodes: empty, or the path of the parent node and a slash. */
  prefix: string;
  /** The nodes whose results are needed; by default only the output node. */
  roots?: readonly string[];
  /** Looks up nodes of the plans around this plan. */
  outer: Lookup;
  /** The previous round; set in later rounds of a loop. */
  round?: Round | undefined;
  /** The path of the outermost loop around this plan. */
  loop?: string;
  /** The node of this plan that judges the output of a loop round. */
  judge?: string;
  slots: Slots;
  /** The tools of the parent task, as an upper bound. */
  ceiling?: readonly string[];
  /** The policy of the parent task. */
  policy?: Policy;
  /** The worktree that the plan's tasks work in. */
  worktree?: Worktree;
  /** The stored files of the parent task. */
  filesOf?: FilesOf;
  /** Opens the worktree in which isolated tasks collect their changes until a join has decided whether it uses them. */
  gather?(): Promise<Worktree | Outcome>;
  /** The model of the parent task. */
  parentModel?: string;
  /** The conversation of the parent task. */
  conversation?: ForkPoint;
  /** The path of the parent task; absent for a plan that a person started. */
  caller?: string;
  signal: AbortSignal;
  depth: number;
}>;

/** The output and the feedback of the previous round of a loop, and the node of the plan that revises the output. */
export type Round = Readonly<{ of: string; output: string; feedback: string }>;

/** The scope of one node of a plan. */
export type NodeContext = Lookup &
  Readonly<{
    path: string;
    scope: PlanScope;
    signal: AbortSignal;
    held: HeldSlot;
    /** For a node of a race: waits until it is decided whether the result of the node is used. */
    claim(): Promise<boolean>;
    /** The outcome of a join (a node that collects results), if there are changes to apply. */
    decided?: Outcome;
  }>;

/** The slot of a running task, which is released at the task's end. */
export type HeldSlot = { slot: Release | undefined; readonly lease?: Release };

/** The result of executing a plan. */
export type PlanOutcome = Readonly<{ outcome: Outcome; outcomeOf(id: string): Outcome | undefined }>;
