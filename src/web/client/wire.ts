import type { Outcome } from "../../core/outcome/outcome.ts";
import type { AnswerKind } from "../../core/plan/answer-kind.ts";
import type { RunStatus } from "../../core/run/run-status.ts";
import type { RowAction } from "../../core/view/row-actions.ts";
import type { Group } from "../../core/view/row-groups.ts";
import type { DiffSize } from "../../core/view/run-rows.ts";
import type { TranscriptEntry } from "../../core/view/transcript.ts";

/** The messages of the server to the page; all of them are JSON. */

export type Life = RunStatus | "damaged";

/** A run in the list of runs. */
export type RunRow = Readonly<{
  id: string;
  name: string;
  /** The working folder of the run. */
  project: string;
  life: Life;
  group: Group;
  doing: string;
  done: number;
  total: number;
  agents: readonly string[];
  models: readonly string[];
  usd: number;
  price: string;
  tokens: string;
  startedAt: number;
  endedAt: number | undefined;
  questions: number;
}>;

/** The kind of answer that a question expects. `network` means that the answer may allow network access. */
export type Asked = Readonly<{ kind: AnswerKind; network: boolean }>;

/** A question that waits for a person. */
export type NeedRow = Readonly<{
  run: string;
  path: string;
  runName: string;
  project: string;
  task: string;
  agent: string | undefined;
  /**
   * A `question` can be answered. A `parked` task (one that waits for a provider) needs another action, which the field
   * `question` describes.
   */
  kind: "question" | "parked";
  question: string;
  call: string | undefined;
  asked: Asked;
  askedAt: number;
  life: Life;
  command: string;
}>;

/** The tool call that a question is about. */
export type CallDetails = Readonly<{ tool: string; input: string; diff: string | undefined }>;

/** A task, gate or loop of a run. */
export type TaskRow = Readonly<{
  path: string;
  /** The path of the parent row in the tree; empty at the top. */
  parent: string;
  depth: number;
  name: string;
  kind: "task" | "gate" | "loop" | "join";
  agent: string;
  model: string;
  group: Group;
  /** The status of the task; `planned` before it begins. */
  status: "planned" | "running" | Outcome["status"];
  doing: string;
  turns: string;
  context: string;
  tokens: string;
  price: string;
  startedAt: number | undefined;
  endedAt: number | undefined;
  /** The time when all dependencies had ended; from then on the task waited for a free slot. */
  readyAt: number | undefined;
  needs: readonly string[];
  question: string | undefined;
  call: string | undefined;
  asked: Asked | undefined;
  diff: DiffSize | undefined;
  /** The number of the task's last event. When it changes, the transcript has changed. */
  seq: number;
  /** The end of the streamed text. */
  text: string;
}>;

/** The data of the run as a whole. */
export type RunHead = Readonly<{
  id: string;
  name: string;
  project: string;
  life: Life;
  group: Group;
  doing: string;
  done: number;
  total: number;
  price: string;
  tokens: string;
  startedAt: number;
  endedAt: number | undefined;
  seq: number;
  output: string;
  result: string;
  problems: readonly string[];
  warnings: readonly string[];
  offline: boolean;
  continues: string | undefined;
  diff: DiffSize | undefined;
  /** The tasks that compete in a race, by path. */
  race: readonly string[];
}>;

/** The possible actions for a task or run, and the command for the most urgent action. */
export type RowDetails = Readonly<{ actions: readonly RowAction[]; command: string }>;

/** One recorded event, as a sentence. */
export type LogLine = Readonly<{ seq: number; at: number; path: string; type: string; text: string }>;

/**
 * A message of the event stream about the list of runs (`event: runs`). `full` means the complete list; otherwise it
 * contains only changes.
 */
export type RunsMessage = Readonly<{
  full: boolean;
  runs: readonly RunRow[];
  gone: readonly string[];
  order: readonly string[];
  older: number;
  needs: readonly NeedRow[];
}>;

/** A message of the event stream about one run (`event: run`), with the id `RUN:SEQ`. */
export type RunMessage = Readonly<{
  /** True when `order` contains every path; tasks that are not in it no longer exist. */
  full: boolean;
  /** True when the next message continues the same snapshot. */
  more?: boolean;
  head: RunHead;
  tasks: readonly TaskRow[];
  gone: readonly string[];
  /** The paths in tree order; absent when the order has not changed. */
  order: readonly string[] | undefined;
  log: readonly LogLine[];
  /** True: `log` begins after the last line that the client has; otherwise it replaces the lines. */
  continues: boolean;
}>;

/** A message of the event stream that the run does not exist (`event: gone`), or that any other error occurred. */
export type WebProblem = Readonly<{ code: string; message: string; hint: string }>;

export type TranscriptPart = Readonly<{
  /** The number of the first entry in this part, and the total number of entries. */
  from: number;
  total: number;
  seq: number;
  entries: readonly Readonly<{ at: number; entry: TranscriptEntry; diff?: string }>[];
}>;

/** The details of a task besides its transcript. */
export type TaskDetails = Readonly<{
  path: string;
  prompts: readonly Readonly<{ attempt: number; text: string; model: string }>[];
  definitions: readonly Readonly<{
    agent: string;
    model: string;
    why: string;
    hash: string;
    rights: readonly string[];
    fields: readonly Readonly<{ field: string; value: string; from: string }>[];
    instructions: string;
  }>[];
  turns: readonly Readonly<{
    turn: number;
    model: string;
    input: number;
    output: number;
    cached: number;
    price: string;
    usd: number;
    at: number;
  }>[];
  warnings: readonly string[];
}>;

export type FileDiff = Readonly<{
  name: string;
  how: string;
  added: number;
  removed: number;
  tasks: readonly string[];
  diff: string | undefined;
  note: string | undefined;
  changedSince: boolean;
}>;

export type DiffReport = Readonly<{
  files: readonly FileDiff[];
  unseen: readonly string[];
  /** Tasks whose changes were kept as a patch and can be applied. */
  kept: readonly Readonly<{ path: string; files: readonly string[]; patch: string }>[];
}>;

/** The result of an action on the page. */
export type Done = Readonly<{ done: boolean; text: string; run?: string }>;

/** One side of a comparison: a run, or one task of it. */
export type ComparedSide = Readonly<{
  run: string;
  path: string;
  name: string;
  life: Life;
  agent: string;
  model: string;
  price: string;
  usd: number;
  tokens: string;
  turns: number;
  ms: number;
  tools: string;
  prompt: string;
  output: string;
  files: readonly FileDiff[];
}>;

/** The cost of one day for one agent, model and project. */
export type SpentRow = Readonly<{
  day: string;
  agent: string;
  model: string;
  project: string;
  usd: number;
  tokens: number;
  turns: number;
  unpriced: number;
}>;

export type CostReport = Readonly<{ days: readonly string[]; rows: readonly SpentRow[]; runs: number }>;

/** A JSON Schema, limited to the parts that forms need. */
export type FormSchema = Readonly<{
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, FormSchema>>;
  required?: readonly string[];
  items?: FormSchema;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly FormSchema[];
  additionalProperties?: unknown;
  minItems?: number;
  minimum?: number;
  maximum?: number;
}>;

export type StartOptions = Readonly<{
  modes: readonly Readonly<{ mode: string; command: string; what: string; schema: FormSchema }>[];
  options: FormSchema;
  agents: readonly Readonly<{ name: string; description: string }>[];
  models: readonly string[];
  projects: readonly string[];
  cwd: string;
}>;

export type PlannedNode = Readonly<{
  id: string;
  kind: "task" | "gate" | "loop" | "join";
  agent: string;
  text: string;
  needs: readonly string[];
}>;

export type PlanPreview = Readonly<{ nodes: readonly PlannedNode[]; notes: readonly string[]; command: string }>;

/** An agent in the list. It has more fields than the page shows. */
export type AgentRow = Readonly<{
  name: string;
  state: string;
  reason?: string;
  description: string;
  source: string;
  family?: string;
  file?: string;
  also: readonly string[];
}>;

export type AgentProblem = Readonly<{
  severity: string;
  code: string;
  message: string;
  hint?: string;
  file?: string;
  line?: number;
}>;

export type ExplainedRow = Readonly<{ field: string; value: string; from: string }>;
export type AgentPage = Readonly<{
  name: string;
  state: string;
  file?: string;
  fields: readonly ExplainedRow[];
  tools: readonly Readonly<{ name: string; allowed: boolean; rule: string; from: string }>[];
  models: readonly Readonly<{ name: string; why: string }>[];
  limits: readonly ExplainedRow[];
  reach: readonly Readonly<{ name: string; adds: readonly string[] }>[];
  problems: readonly AgentProblem[];
  dialects: readonly string[];
}>;

export type Conversion = Readonly<{
  path: string;
  text: string;
  losses: readonly Readonly<{ kind: string; field: string; note: string }>[];
}>;

/** What the server tells the page at the start: the role of this browser, and the server's version. */
export type Hello = Readonly<{ role: "full" | "read"; version: string; cwd: string }>;
