import { startTimer } from "../async/long-timer.ts";
import { DEFAULT_CONTEXT_WINDOW } from "../../core/model/context-window.ts";
import { type ImageContent, takesImages } from "../../core/model/images.ts";
import type { ToolAnswer, ToolCall } from "../../core/model/model.ts";
import { permit, rightTo } from "../../core/policy/permit.ts";
import { type LocatedSubject, type Subject, subjectsText } from "../../core/rules/call-subject.ts";
import type { Fact } from "../../core/run/event.ts";
import type { ChangedFile } from "../../core/run/file-version.ts";
import { messageOf } from "../../core/schema/error.ts";
import type { SeenChanges } from "../../core/task/change-recorder.ts";
import type { Parent, PerformContext } from "../../core/task/engine.ts";
import { redactedPreview } from "../../core/task/preview.ts";
import type { Assignment } from "../../core/task/runner.ts";
import type { TaskAccess } from "../../core/task/task-access.ts";
import type { CallAccess, CallOrder, Tool, ToolResult } from "../../core/task/tool.ts";
import { parseArguments } from "../../core/task/parse-arguments.ts";
import { cutOutsideKey } from "../../core/secrets/private-key.ts";
import { REDACTED } from "../../core/secrets/redact.ts";
import { cutTail, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "../../core/text/cut.ts";
import { withDenied } from "../../core/policy/policy.ts";
import { onlyReads } from "../../core/shell/only-reads.ts";
import { readDelegation } from "../../core/task/read-delegation.ts";
import { defined } from "../../core/text/defined.ts";
import { ALL_TOOLS } from "../../core/vocabulary/tool-names.ts";
import { isRecord, isDeeplyNested, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { nearest } from "../../core/text/nearest.ts";
import { facadeOf } from "../../core/vocabulary/delegation-names.ts";
import { attachedImage, MAX_IMAGES } from "../../core/vocabulary/image.ts";
import { classOf } from "../../core/vocabulary/tool-class.ts";
import { unstyledToolName } from "../../core/vocabulary/tool-name-styles.ts";
import { canonicalName, DELEGATION_TOOL } from "../../core/vocabulary/tool-names.ts";
import type { ToolStatus } from "../../core/vocabulary/tool-status.ts";
import { approve, verdictOn } from "../access/approve-call.ts";
import { following, reasonOf, stopped } from "../async/cancel.ts";
import { onAbort } from "../async/on-abort.ts";
import { isDenial, isOpenRefusal } from "../files/open-contained.ts";
import { diagnosticsAfter } from "./diagnostics.ts";
import { type CallReach, TOUCHES_NOTHING, type TouchedPath } from "./turn-order.ts";

/** Default timeout of a tool. */
const DEFAULT_TOOL_MS = 120_000;

/**
 * Executes one tool call, or returns why it cannot be executed. A failure is an error *result* that the model reads; a
 * call that is not permitted never reaches the tool.
 */
export async function callTool(call: ToolCall, assignment: Assignment, context: PerformContext): Promise<ToolAnswer> {
  const { rights, tools } = assignment;
  const answer = (text: string, error: boolean): ToolAnswer => ({ id: call.id, name: call.name, text, error });
  const deny = (rule: string, text: string, more: Denial = {}): ToolAnswer => {
    context.emit({ type: "tool.denied", call: call.id, tool: call.name, rule, text, ...more });
    return { ...answer(text, true), denied: true };
  };
  const tool = calledTool(call, assignment);
  const unavailable = (name: string, rule: string): ToolAnswer =>
    deny(
      rule,
      `DENIED: Tool "${name}" is not available for task type "${rights.name}" (${rule}). Continue without it.`,
    );
  if (!tool) {
    // The delegation tools are made only for agents that may start other agents.
    const delegation = permit(rights, DELEGATION_TOOL);
    if (facadeOf(call.name) !== undefined && !delegation.allowed) return unavailable(call.name, delegation.rule);
    const close = nearest(
      call.name,
      [...tools.keys()].filter((name) => permit(rights, name).allowed),
    );
    return deny(
      "no such tool",
      `Unknown tool "${call.name}".${close === undefined ? "" : ` Did you mean "${close}"?`}`,
    );
  }
  const { allowed, rule } = permit(rights, tool.name);
  if (!allowed) return unavailable(tool.name, rule);
  const parsed = parseArguments(tool, call.input);
  const reject = (reason: string, text: string): ToolAnswer => {
    context.emit({ type: "tool.rejected", call: call.id, tool: tool.name, reason, text });
    return answer(text, true);
  };
  if ("problem" in parsed)
    return reject(
      parsed.problem,
      `The arguments of ${tool.name} are not valid: ${parsed.problem}. Correct them and call again.`,
    );
  const approved = await approve(tool, parsed.value, call.id, {
    assignment,
    context,
    diff: () => diffOf(tool, parsed.value, assignment),
  });
  const { redact = (text) => text } = assignment;
  const preview = redactedPreview(tool.name, isRecord(parsed.value) ? parsed.value : {}, redact);
  const targeted = (located: readonly LocatedSubject[] = []): Readonly<{ target?: string }> =>
    orderOf(tool, parsed.value) === "write" ? { target: redact(subjectsText(located)) || preview } : {};
  if ("rule" in approved) {
    const { located, hint, unasked } = approved;
    return deny(approved.rule, approved.text, { tool: tool.name, ...defined({ hint, unasked }), ...targeted(located) });
  }
  if ("problem" in approved) return reject(approved.problem, approved.problem);

  if (context.signal.aborted) return answer("This call was not carried out.", true);
  const target = targeted(approved.judged);
  context.emit({ type: "tool.started", call: call.id, tool: tool.name, preview, effect: tool.effect, ...target });
  if (tool.effect === "write") await context.durable();
  const began = performance.now();
  const {
    text: told,
    status,
    details,
    files,
    rule: broken,
    images,
  } = await runTool(tool, { ...approved, input: parsed.value, id: call.id }, assignment, context);
  const error = status !== "ok";
  const found = error ? "" : await diagnosticsAfter(tool, call.id, { assignment, context });
  const text = `${told}${parsed.notes.map((note) => `\n[${note}]`).join("")}${found}`;
  if (broken !== undefined)
    context.emit({ type: "tool.denied", call: call.id, tool: tool.name, rule: broken, text, ...target });
  context.emit({
    type: "tool.ended",
    call: call.id,
    tool: tool.name,
    error,
    text,
    ms: Math.round(performance.now() - began),
    status,
    ...defined({ details }),
    ...(files.length > 0 && { files }),
  });
  if (broken !== undefined) return { ...answer(text, true), denied: true };
  const seen = images && takesImages(assignment.model.id) ? { images } : {};
  return { ...answer(text, error), ...seen };
}

/** The change that a call would make now; `undefined` if the task may not read the file without being asked. */
async function diffOf(tool: Tool, input: unknown, assignment: Assignment): Promise<string | undefined> {
  const { access, toolContext } = assignment;
  if (!access || !tool.diff) return undefined;
  const reading = accessFor(access, { tool, judged: [], record: async () => {}, network: undefined }, assignment);
  return tool.diff(input, { cwd: toolContext.cwd, access: reading }).catch(() => undefined);
}

type Denial = Pick<Extract<Fact, { type: "tool.denied" }>, "hint" | "target" | "unasked"> & Readonly<{ tool?: string }>;

const orderOf = (tool: Tool, input: unknown): CallOrder =>
  tool.order?.(input) ?? (classOf(tool) === "spawn" ? "spawn" : tool.effect);

function calledTool({ name }: ToolCall, { tools }: Assignment): Tool | undefined {
  return tools.get(name) ?? tools.get(canonicalName(name) ?? unstyledToolName(name) ?? "");
}

/**
 * Whether repeating a call counts as progress, if the call succeeds: a call that changes something is progress, a tool
 * that polls may be repeated.
 */
export function callProgress(call: ToolCall, assignment: Assignment): "changes" | "polls" | "none" {
  const known = parsedCall(call, assignment);
  if (!known) return "none";
  if (known.tool.polls) return "polls";
  const isChange = known.order === "write" && known.tool.effect === "write";
  return isChange || classOf(known.tool) === "spawn" ? "changes" : "none";
}

/** A call with its tool and its arguments; `undefined` if the call is refused. */
function parsedCall(call: ToolCall, assignment: Assignment): ParsedCall | undefined {
  const tool = calledTool(call, assignment);
  const parsed = tool && permit(assignment.rights, tool.name).allowed && parseArguments(tool, call.input);
  if (!tool || !parsed || "problem" in parsed) return undefined;
  return { tool, input: parsed.value, order: orderOf(tool, parsed.value) };
}

type ParsedCall = Readonly<{ tool: Tool; input: unknown; order: CallOrder }>;

/**
 * Returns what each call of a turn touches, as the files are at that moment. Only file tools touch certain paths. If the
 * calls need no order, nothing is resolved.
 */
export function reachesOf(
  calls: readonly ToolCall[],
  assignment: Assignment,
): (call: ToolCall) => Promise<CallReach> | CallReach {
  const { access } = assignment;
  const known = new Map(
    calls.flatMap((call) => {
      const { tool, input, order } = parsedCall(call, assignment) ?? {};
      if (!tool) return [];
      const subjects = ["read", "write"].includes(classOf(tool)) ? (tool.subjects?.(input) ?? []) : [];
      return [[call, { order, subjects }] as const];
    }),
  );
  const orders = new Set(Array.from(known.values(), ({ order }) => order));
  const needsOrder = known.size > 1 && (orders.size > 1 || orders.has("write"));
  return (call) => {
    const { order, subjects } = known.get(call) ?? { subjects: [] };
    if (order === undefined) return TOUCHES_NOTHING; // the call is refused
    if (!needsOrder || !access || subjects.length === 0) return { order };
    return touchedPaths(subjects, access).then(
      (paths) => ({ order, ...defined({ paths }) }),
      () => ({ order }), // the call is refused, unless a call before it changes where its path leads
    );
  };
}

/** The real paths of the subjects; `undefined` if one of them is not a path. */
async function touchedPaths(
  subjects: readonly Subject[],
  { locate }: Pick<TaskAccess, "locate">,
): Promise<TouchedPath[] | undefined> {
  const located = await Promise.all(subjects.map((subject) => locate(subject)));
  const paths = located.flatMap((each) =>
    each.kind === "path" ? [{ path: each.places.at(-1)!, change: each.change }] : [],
  );
  return paths.length === located.length ? paths : undefined;
}

/**
 * The part of a result that the model reads. For a long result, it is the last part, and the path of a file with the
 * whole result. `tell` is called with the path of that file.
 */
async function fitting(
  tool: string,
  { text: whole, file: kept }: Readonly<{ text: string; file?: string }>,
  { keepLong, redact = (text) => text, cut: most = {} }: Assignment,
  tell: (file: string) => void,
): Promise<string> {
  // Only the shown part and some text before it are searched for secrets, so that long results stay cheap.
  const { bytes = MAX_OUTPUT_BYTES, lines = MAX_OUTPUT_LINES } = most;
  const searched = LOOKED_AT * Math.max(1, bytes / MAX_OUTPUT_BYTES);
  const looked = redact(cutOutsideKey(whole, whole.length - searched, REDACTED));
  const { text: end, cut } = cutTail(looked, { bytes, lines });
  if (!cut && whole.length <= searched) return end;
  const text = cutOutsideKey(looked, looked.length - end.length, REDACTED);
  const file = kept ?? (await keepLong?.(tool, whole));
  if (file !== undefined) tell(file);
  return `[the beginning was cut${file === undefined ? "" : `; the full output is in ${file}`}]\n${text}`;
}

/** Length of the tail that is searched for secrets. */
const LOOKED_AT = 4 * MAX_OUTPUT_BYTES;

type Started = Readonly<{ input: unknown; id: string; judged: readonly LocatedSubject[]; network?: true }>;
type Ended = Readonly<{
  text: string;
  status: ToolStatus;
  /** Output files that the task may read from now on. */
  files: readonly string[];
  details?: unknown;
  images?: readonly ImageContent[];
  /** The permission rule that refused something during the tool call. */
  rule?: string;
}>;

async function runTool(
  tool: Tool,
  { input, id, judged, network }: Started,
  assignment: Assignment,
  context: PerformContext,
): Promise<Ended> {
  // The task may have been cancelled while this call was being recorded.
  if (context.signal.aborted)
    return { text: `${tool.name} was not carried out: ${reasonOf(context.signal)}`, status: "cancelled", files: [] };
  const { controller, release } = following(context.signal);
  let late = false;
  const { redact = (text) => text } = assignment;
  const { background } = context;
  const files = new Set<string>();
  const tell = (told: Iterable<string | undefined>): void => {
    for (const file of told) if (file !== undefined) files.add(file);
    assignment.access?.allowReading([...files]);
  };
  const helpers: Promise<unknown>[] = [];
  const record = async (changed: readonly ChangedFile[]): Promise<void> => {
    context.emit({ type: "files.changed", call: id, files: changed, ahead: true });
    await context.durable();
  };
  const watched = await watchCommand(tool, input, assignment);
  const limit = tool.timeoutMs ?? DEFAULT_TOOL_MS;
  const clear = startTimer(() => {
    late = true;
    controller.abort(stopped(`${tool.name} took longer than ${limit} ms`));
  }, limit);
  try {
    const { cwd, env, run: ownRun, path: ownPath, agent, spawns, desk } = assignment.toolContext;
    const run = async (): Promise<ToolResult> =>
      tool.run(input, {
        // Each field is copied by name: a spread of this object would take a tenth of the time of a short tool call.
        cwd,
        env,
        run: ownRun,
        path: ownPath,
        agent,
        desk,
        signal: controller.signal,
        report: (text) => context.live({ type: "tool.delta", call: id, text }),
        notify: context.tell,
        ask: (question, options) => context.ask(question, { ...options, call: id, signal: controller.signal }),
        delegate: async (what) => {
          const asked = context.delegate(what, parentOf(assignment), controller.signal);
          helpers.push(asked);
          const delegated = await asked;
          const { run = assignment.call.run } = delegated;
          const done = await readDelegation(delegated, async (path, outcome) =>
            assignment.outputFile?.({ run, path }, outcome),
          );
          tell(Object.values(done.nodes ?? {}).map(({ file }) => file));
          return done;
        },
        ...(background && {
          background: {
            ...background,
            start: async (what, tells) => {
              const begun = await background.start(what, parentOf(assignment), tells);
              if ("files" in begun) tell(Object.values(begun.files));
              return begun;
            },
          },
        }),
        resultChars: resultChars(assignment),
        ...defined({ spawns, agents: context.agents, send: context.send }),
        ...(assignment.access && {
          access: accessFor(assignment.access, { tool, judged, record, network }, assignment),
        }),
      });
    const work = exclusively(tool, judged, { access: assignment.access, run, signal: controller.signal });
    const result = await unlessAborted(work, controller.signal);
    const whole = normal(result);
    tell([whole.file]);
    return {
      // Delegation tools bound each result themselves, and name the file of each.
      text:
        classOf(tool) === "spawn"
          ? redact(whole.text)
          : await fitting(tool.name, whole, assignment, (file) => tell([file])),
      status: whole.status ?? (whole.error ? "failed" : "ok"),
      files: [...files],
      ...recordable(whole.details),
      ...imagesIn(whole.images),
    };
  } catch (thrown) {
    if (isOpenRefusal(thrown) && isDenial(thrown))
      return {
        text: `DENIED: ${redact(thrown.message)}.`,
        status: "failed",
        files: [],
        rule: thrown.code.toLowerCase(),
      };
    const status = late
      ? "timeout"
      : context.signal.aborted
        ? "cancelled"
        : isNotStarted(thrown)
          ? "not-started"
          : "failed";
    return { text: `${tool.name} failed: ${redact(messageOf(thrown))}`, status, files: [...files] };
  } finally {
    clear();
    release();
    const { files: changed = [], unseen } = (await watched?.()) ?? {};
    if (changed.length > 0 || unseen !== undefined)
      context.emit({ type: "files.changed", call: id, files: changed, ...defined({ unseen }) });
    // Subagents of an aborted tool call stop with it, and the task gets its slot back before it continues.
    if (controller.signal.aborted) await Promise.allSettled(helpers);
  }
}

type Exclusive = Readonly<{ access: TaskAccess | undefined; run(): Promise<ToolResult>; signal: AbortSignal }>;

/** Runs a tool that changes certain files while no other task changes them. */
async function exclusively(
  tool: Tool,
  judged: readonly LocatedSubject[],
  { access, run, signal }: Exclusive,
): Promise<ToolResult> {
  const places =
    access && classOf(tool) === "write"
      ? judged.flatMap((each) => (each.kind === "path" && each.change ? each.places.slice(-1) : []))
      : [];
  return places.length === 0 ? run() : access!.exclusively(places, run, signal);
}

/**
 * Records the state of files before a tool call that may change any of them, such as a shell command. File tools record
 * their changes themselves.
 */
async function watchCommand(
  tool: Tool,
  input: unknown,
  { access, toolContext: { cwd } }: Assignment,
): Promise<(() => Promise<SeenChanges>) | undefined> {
  if (!access?.changes || classOf(tool) !== "exec") return undefined;
  const commands = tool.subjects?.(input).flatMap((each) => (each.kind === "command" ? [each.command] : [])) ?? [];
  if (commands.length > 0 && commands.every(onlyReads)) return undefined;
  return access.changes.watch([cwd, ...access.roots]);
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

function accessFor(
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

/** Maximum size of the structured result in the journal. */
const MOST_DETAILS = 200_000;

/** The structured result of a tool call for the journal, or nothing if it is too long. */
function recordable(value: unknown): Readonly<{ details?: unknown }> {
  try {
    if (isDeeplyNested(value)) return {};
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined || text.length > MOST_DETAILS ? {} : { details: JSON.parse(text) as unknown };
  } catch {
    return {}; // a cycle, or a value that JSON cannot express
  }
}

/** The images of a result whose format every provider accepts. */
function imagesIn(images: readonly ImageContent[] = []): Readonly<{ images?: readonly ImageContent[] }> {
  const fit = images.filter((image) => attachedImage.safeParse(image).success).slice(0, MAX_IMAGES);
  return fit.length === 0 ? {} : { images: fit };
}

/** A tool result in the expected form: tools of the library user may return any value. */
function normal(result: unknown): Exclude<ToolResult, string> {
  if (typeof result === "string") return { text: result };
  if (isRecord(result) && typeof result["text"] === "string") return result as Exclude<ToolResult, string>;
  if (isDeeplyNested(result)) throw new Error(`its result is ${TOO_DEEP_JSON}`);
  return { text: result === undefined ? "" : (JSON.stringify(result) ?? typeof result) };
}

function isNotStarted(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "NOT_STARTED";
}

/**
 * Waits for a tool unless it is cancelled: a tool that ignores its signal is abandoned, so that cancelling never waits
 * for it.
 */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      const reason: unknown = signal.reason;
      reject(new Error(isRecord(reason) && typeof reason["stop"] === "string" ? reason["stop"] : "it was stopped"));
    };
    if (signal.aborted) giveUp();
    work.then(resolve, reject).finally(onAbort(signal, giveUp));
  });
}
