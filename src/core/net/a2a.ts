import type { Cost, Usage } from "../outcome/usage.ts";
import { defined } from "../text/defined.ts";
import { isRecord } from "../text/json.ts";

/** Types of the A2A protocol (0.3); the client translates other versions. */
export type RemotePart =
  | Readonly<{ kind: "text"; text: string }>
  | Readonly<{ kind: "data"; data: unknown }>
  | Readonly<{ kind: "file"; file: RemoteFile }>;

export type RemoteFile = Readonly<{ name?: string; uri?: string; bytes?: string; mimeType?: string }>;

export type RemoteMessage = Readonly<{
  kind: "message";
  messageId: string;
  role: "user" | "agent";
  parts: readonly RemotePart[];
  contextId?: string;
  taskId?: string;
}>;

/** The states of a task; `unknown` when the remote agent cannot tell. */
export const remoteStates = [
  "submitted",
  "working",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
  "unknown",
] as const;
export type RemoteState = (typeof remoteStates)[number];

export type RemoteStatus = Readonly<{ state: RemoteState; message?: RemoteMessage; timestamp?: string }>;

export type RemoteArtifact = Readonly<{ artifactId: string; name?: string; parts: readonly RemotePart[] }>;

type Metadata = Readonly<Record<string, unknown>>;

export type RemoteTask = Readonly<{
  kind: "task";
  id: string;
  contextId: string;
  status: RemoteStatus;
  artifacts?: readonly RemoteArtifact[];
  history?: readonly RemoteMessage[];
  metadata?: Metadata;
}>;

/** One stream event. The first event of a stream is a message or a task. */
export type RemoteUpdate =
  | RemoteMessage
  | RemoteTask
  | Readonly<{
      kind: "status-update";
      taskId: string;
      contextId: string;
      status: RemoteStatus;
      metadata?: Metadata;
    }>
  | Readonly<{
      kind: "artifact-update";
      taskId: string;
      contextId: string;
      artifact: RemoteArtifact;
      /** True: the parts are appended to the artifact instead of replacing it. */
      append?: boolean;
      lastChunk?: boolean;
    }>;

/** The answer of a remote agent: a message or a task. */
export type RemoteAnswer = RemoteMessage | RemoteTask;

/** The conversation that a message belongs to, and the task in it. */
export type RemoteIds = Readonly<{ contextId?: string; taskId?: string }>;

const ENDED: ReadonlySet<RemoteState> = new Set(["completed", "failed", "canceled", "rejected"]);

/** True for a task in a final state. */
export function isOver(state: RemoteState): boolean {
  return ENDED.has(state);
}

/**
 * Merges one update from the remote agent into the answer so far. An update without a known task starts a new answer.
 * Updates after the end, and updates of another task, are ignored.
 */
export function foldRemote(before: RemoteAnswer | undefined, update: RemoteUpdate): RemoteAnswer {
  if (before && (isFinal(before) || isOfAnother(before, update))) return before;
  switch (update.kind) {
    case "message":
    case "task":
      return update;
    case "status-update": {
      const task = taskIn(before, update);
      return { ...task, status: update.status, ...defined({ metadata: update.metadata }) };
    }
    case "artifact-update": {
      const task = taskIn(before, update);
      const others = task.artifacts ?? [];
      const known = others.find(({ artifactId }) => artifactId === update.artifact.artifactId);
      const artifact =
        update.append && known
          ? { ...known, ...update.artifact, parts: joined(known.parts, update.artifact.parts) }
          : update.artifact;
      return {
        ...task,
        artifacts: known ? others.map((each) => (each === known ? artifact : each)) : [...others, artifact],
      };
    }
  }
}

/** True for an answer that cannot change any more. */
export function isFinal(answer: RemoteAnswer): boolean {
  return answer.kind === "message" || isOver(answer.status.state);
}

/** True when an update names another task than the task of the answer so far. */
function isOfAnother(before: RemoteAnswer, update: RemoteUpdate): boolean {
  const task = before.kind === "task" ? before.id : undefined;
  const named = update.kind === "task" ? update.id : update.taskId;
  return Boolean(task && named && named !== task);
}

/** Appends parts. Consecutive text parts are joined, because a part may end in the middle of a word. */
function joined(before: readonly RemotePart[], more: readonly RemotePart[]): RemotePart[] {
  const last = before.at(-1);
  const [first, ...rest] = more;
  if (last?.kind !== "text" || first?.kind !== "text") return [...before, ...more];
  return [...before.slice(0, -1), { kind: "text", text: last.text + first.text }, ...rest];
}

function taskIn(
  before: RemoteAnswer | undefined,
  { taskId, contextId }: { taskId: string; contextId: string },
): RemoteTask {
  return before?.kind === "task" ? before : { kind: "task", id: taskId, contextId, status: { state: "unknown" } };
}

/** The text of a message: its parts of every kind, separated by newlines; empty parts are left out. */
export function extractMessageText(message: Pick<RemoteMessage, "parts"> | undefined): string {
  return partsText(message?.parts);
}

/** The text of a task: its status message, then its artifacts, with an empty line between them. */
export function extractTaskText({ status, artifacts }: Partial<Pick<RemoteTask, "status" | "artifacts">>): string {
  const made = (artifacts ?? []).map(({ name, parts }) => {
    const text = partsText(parts);
    return text === "" ? "" : `Artifact${name ? ` (${name})` : ""}:\n${text}`;
  });
  return [extractMessageText(status?.message), ...made].filter((text) => text !== "").join("\n\n");
}

/**
 * The ids to send with a reply to a remote agent. An ended task accepts no messages, so only its context id is kept.
 */
export function extractIds(answer: RemoteAnswer): RemoteIds {
  if (answer.kind === "message") return idsOf(answer.contextId, answer.taskId);
  return idsOf(answer.contextId, isOver(answer.status.state) ? undefined : answer.id);
}

/**
 * The ids to send with the next message to a remote agent: the conversation continues, even when its task has ended.
 */
export function nextIds(before: RemoteIds, answer: RemoteAnswer): RemoteIds {
  const { contextId, taskId } = extractIds(answer);
  return idsOf(contextId ?? before.contextId, taskId);
}

function idsOf(contextId: string | undefined, taskId: string | undefined): RemoteIds {
  return { ...(contextId && { contextId }), ...(taskId && { taskId }) };
}

/** The result in a remote agent's answer: the content of its only artifact, else the whole text. */
export function remoteResult(answer: RemoteAnswer): Readonly<{ text: string; data?: unknown }> {
  if (answer.kind === "message") return withData(answer.parts);
  const [only, ...others] = answer.artifacts ?? [];
  return only && others.length === 0 ? withData(only.parts) : { text: extractTaskText(answer) };
}

/** The text and the data of parts: a single data part is the result value itself. */
function withData(parts: readonly RemotePart[]): { text: string; data?: unknown } {
  const data = parts.flatMap((part) => (part.kind === "data" ? [part.data] : []));
  const texts = parts.filter((part) => part.kind !== "data");
  if (data.length !== 1) return { text: partsText(parts) };
  return { text: texts.length === 0 ? JSON.stringify(data[0], null, 2) : partsText(texts), data: data[0] };
}

function partsText(parts: readonly RemotePart[] | undefined): string {
  return (Array.isArray(parts) ? (parts as readonly RemotePart[]) : [])
    .map(partText)
    .filter((text) => text !== "")
    .join("\n");
}

function partText(part: RemotePart): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "data":
      return `Data: ${JSON.stringify(part.data)}`;
    case "file":
      return `File: ${part.file.name || part.file.uri || "[binary/unnamed]"}`;
    default:
      return ""; // a later version of the protocol may have other parts
  }
}

/** Metadata key under which an A2A server reports usage. */
export const USAGE_KEY = "subcrew.usage";

/** The reported usage of a task; `undefined` when it is missing or invalid. */
export function reportedUsage(answer: RemoteAnswer): Reported | undefined {
  const said = answer.kind === "task" ? answer.metadata?.[USAGE_KEY] : undefined;
  if (!isRecord(said) || !isRecord(said["usage"]) || !isRecord(said["cost"])) return undefined;
  const usage = counts(said["usage"], [
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "reasoning",
    "contextTokens",
    "turns",
  ] as const);
  const cost = counts(said["cost"], ["usd", "unpriced"] as const);
  return usage && cost && { usage, cost };
}

/** The usage added since the last report. */
export function usedSince(before: Reported, now: Reported): Reported {
  const more = <K extends string>(a: Readonly<Record<K, number>>, b: Readonly<Record<K, number>>): Record<K, number> =>
    Object.fromEntries(Object.keys(b).map((key) => [key, Math.max(0, b[key as K] - a[key as K])])) as Record<K, number>;
  return {
    usage: { ...more(before.usage, now.usage), contextTokens: now.usage.contextTokens },
    cost: {
      usd: Math.max(0, now.cost.usd - before.cost.usd),
      unpriced: Math.max(0, now.cost.unpriced - before.cost.unpriced),
    },
  };
}

type Reported = Readonly<{ usage: Omit<Usage, "estimated">; cost: Omit<Cost, "estimated"> }>;

function counts<K extends string>(
  value: Readonly<Record<string, unknown>>,
  keys: readonly K[],
): Record<K, number> | undefined {
  const pairs = keys.map((key) => [key, Object.hasOwn(value, key) ? value[key] : undefined] as const);
  const sound = pairs.every(([, count]) => typeof count === "number" && count >= 0 && count < 1e12);
  return sound ? (Object.fromEntries(pairs) as Record<K, number>) : undefined;
}
