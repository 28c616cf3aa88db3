import { DEFAULT_CONTEXT_WINDOW } from "../../core/model/context-window.ts";
import { permit, rightTo } from "../../core/policy/permit.ts";
import { withDenied } from "../../core/policy/policy.ts";
import type { LocatedSubject } from "../../core/rules/call-subject.ts";
import type { ChangedFile } from "../../core/run/file-version.ts";
import type { Parent, PerformContext } from "../../core/task/engine.ts";
import { readDelegation } from "../../core/task/read-delegation.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import type { CallAccess, Tool, ToolContext } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { ALL_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { verdictOn } from "../access/approve-call.ts";

/** An approved tool call: its arguments, its id, and the subjects for which it was approved. */
export type StartedCall = Readonly<{
  tool: Tool;
  input: unknown;
  id: string;
  judged: readonly LocatedSubject[];
  network?: true;
}>;

/** The task that calls a tool; `signal` stops the call. */
export type CallingTask = Readonly<{ assignment: Assignment; context: PerformContext; signal: AbortSignal }>;

/** What one tool call may use: the files, agents and people of its task. */
export class ToolServices {
  readonly #call: StartedCall;
  readonly #task: CallingTask;
  readonly #files = new Set<string>();
  readonly #helpers: Promise<unknown>[] = [];

  constructor(call: StartedCall, task: CallingTask) {
    this.#call = call;
    this.#task = task;
  }

  /** The output files that the task may read from now on. */
  files(): readonly string[] {
    return [...this.#files];
  }

  tell(told: Iterable<string | undefined>): void {
    for (const file of told) if (file !== undefined) this.#files.add(file);
    this.#task.assignment.access?.allowReading([...this.#files]);
  }

  async helpersEnd(): Promise<void> {
    await Promise.allSettled(this.#helpers);
  }

  context(): ToolContext {
    const { assignment, context, signal } = this.#task;
    const { tool, id, judged, network } = this.#call;
    const { cwd, env, run, path, agent, spawns, desk } = assignment.toolContext;
    return {
      // Each field is copied by name: a spread of this object would take a tenth of the time of a short tool call.
      cwd,
      env,
      run,
      path,
      agent,
      desk,
      signal,
      report: (text) => context.live({ type: "tool.delta", call: id, text }),
      notify: context.tell,
      ask: (question, options) => context.ask(question, { ...options, call: id, signal }),
      delegate: (what) => this.#delegate(what),
      ...defined({ background: this.#background() }),
      resultChars: resultChars(assignment),
      ...defined({ spawns, agents: context.agents, send: context.send }),
      ...(assignment.access && {
        access: accessFor(
          assignment.access,
          { tool, judged, network, record: (files) => this.#record(files) },
          assignment,
        ),
      }),
    };
  }

  async #delegate(what: Parameters<ToolContext["delegate"]>[0]): ReturnType<ToolContext["delegate"]> {
    const { assignment, context, signal } = this.#task;
    const asked = context.delegate(what, parentOf(assignment), signal);
    this.#helpers.push(asked);
    const delegated = await asked;
    const { run = assignment.call.run } = delegated;
    const done = await readDelegation(delegated, async (path, outcome) =>
      assignment.outputFile?.({ run, path }, outcome),
    );
    this.tell(Object.values(done.nodes ?? {}).map(({ file }) => file));
    return done;
  }

  #background(): ToolContext["background"] {
    const { assignment, context } = this.#task;
    const { background } = context;
    if (!background) return undefined;
    return {
      ...background,
      start: async (what, tells) => {
        const begun = await background.start(what, parentOf(assignment), tells);
        if ("files" in begun) this.tell(Object.values(begun.files));
        return begun;
      },
    };
  }

  async #record(files: readonly ChangedFile[]): Promise<void> {
    const { context } = this.#task;
    context.emit({ type: "files.changed", call: this.#call.id, files, ahead: true });
    await context.durable();
  }
}

/** How many characters of results one call may add to the conversation: a quarter of the model's window. */
const resultChars = ({ model: { contextWindow = DEFAULT_CONTEXT_WINDOW } }: Assignment): number =>
  Math.min(MAX_RESULTS_CHARS, Math.floor((contextWindow / 4) * CHARS_PER_TOKEN));

const CHARS_PER_TOKEN = 3;
/** The results of one call are also recorded as data, which has a maximum size. */
const MAX_RESULTS_CHARS = 150_000;

/**
 * The properties that subagents inherit from a task: always the tools that are denied to it; its tool list only with
 * `delegation: ceiling`.
 */
function parentOf(assignment: Assignment): Parent {
  const { agent, call, model, access } = assignment;
  return {
    spawns: agent.spawns ?? "*",
    model: model.ref,
    resultChars: resultChars(assignment),
    ...defined({ ceiling: ceilingFor(assignment), worktree: call.worktree }),
    ...(access && { policy: withDenied(access.policy(), agent.disallowedTools) }),
  };
}

/**
 * Upper bound of the subagents' tools. A restriction of the run (`--tools`) applies like a restriction of the agent.
 */
function ceilingFor({ agent, call, tools, rights }: Assignment): readonly string[] | undefined {
  const isRestricted = call.task.tools !== undefined && !call.task.tools.includes(ALL_TOOLS);
  if (agent.delegationRule !== "ceiling" && !isRestricted) return call.ceiling;
  const allowed = [...tools.keys()].filter((name) => permit(rights, name).allowed);
  return [...new Set(allowed.map((name) => rightTo(rights, name)))];
}

/** What a call may do with files, commands and the network. */
export function accessFor(
  { placeOf, closedIn, roots, handed, seen, noteWrite, changes, commands }: TaskAccess,
  { tool, judged, record, network }: AccessedCall,
  assignment: Assignment,
): CallAccess {
  return {
    judged,
    placeOf,
    closedIn: (folder) => closedIn(tool.name, folder, judged),
    roots,
    seen,
    noteWrite,
    check: (subject) => verdictOn(tool, assignment, { subjects: [subject] }),
    ...(changes && { changes: { keep: changes.keep, version: changes.version, record } }),
    ...defined({ handed, commands, network }),
  };
}

type AccessedCall = Readonly<{
  tool: Tool;
  judged: readonly LocatedSubject[];
  record(files: readonly ChangedFile[]): Promise<void>;
  network: true | undefined;
}>;
