import type { Cost, Usage } from "../outcome/usage.ts";
import { defined } from "../text/defined.ts";
import { isRecord } from "../text/json.ts";

/** What an agent elsewhere says, in the words of the A2A protocol (0.3); whoever talks to it translates. */
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

/** From the first to the last state of a task; `unknown` is what the other side cannot tell. */
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

/** One thing that comes over a stream; the first is a message or a task. */
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
      /** It goes on with what came before of this artifact, instead of replacing it. */
      append?: boolean;
      lastChunk?: boolean;
    }>;

/** What an exchange came to. */
export type RemoteAnswer = RemoteMessage | RemoteTask;

/** Which conversation and which task of it a message belongs to. */
export type RemoteIds = Readonly<{ contextId?: string; taskId?: string }>;

const ENDED: ReadonlySet<RemoteState> = new Set(["completed", "failed", "canceled", "rejected"]);

/** True for a task that will not change any more. */
export function isOver(state: RemoteState): boolean {
  return ENDED.has(state);
}

/** What is known after one more update; a stream that begins in the middle begins with what it is about. */
export function foldRemote(before: RemoteAnswer | undefined, update: RemoteUpdate): RemoteAnswer {
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

/** Text that goes on is one text: a piece may end in the middle of a word. */
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

/** The text of a message: its parts in lines, whatever they are; empty texts are left out. */
export function extractMessageText(message: Pick<RemoteMessage, "parts"> | undefined): string {
  return partsText(message?.parts ?? []);
}

/** The text of a task: what its state says, then what it made. */
export function extractTaskText({ status, artifacts = [] }: Pick<RemoteTask, "status" | "artifacts">): string {
  const made = artifacts.map(({ name, parts }) => `Artifact${name ? ` (${name})` : ""}:\n${partsText(parts)}`);
  return [extractMessageText(status.message), ...made].filter((text) => text !== "").join("\n");
}

/** Where an answer belongs. A task that is over takes no more messages, so only its conversation counts. */
export function extractIds(answer: RemoteAnswer): RemoteIds {
  if (answer.kind === "message") return idsOf(answer.contextId, answer.taskId);
  return idsOf(answer.contextId, isOver(answer.status.state) ? undefined : answer.id);
}

/** Where the next message belongs: the conversation lasts, the task ends. */
export function nextIds(before: RemoteIds, answer: RemoteAnswer): RemoteIds {
  const { contextId, taskId } = extractIds(answer);
  return idsOf(contextId ?? before.contextId, taskId);
}

function idsOf(contextId: string | undefined, taskId: string | undefined): RemoteIds {
  return { ...(contextId && { contextId }), ...(taskId && { taskId }) };
}

/** The result of an answer: the one thing that was made without its heading; else all that was said. */
export function remoteResult(answer: RemoteAnswer): Readonly<{ text: string; data?: unknown }> {
  if (answer.kind === "message") return withData(answer.parts);
  const [only, ...others] = answer.artifacts ?? [];
  return only && others.length === 0 ? withData(only.parts) : { text: extractTaskText(answer) };
}

/** A value that came alone is the result itself, not a line about it. */
function withData(parts: readonly RemotePart[]): { text: string; data?: unknown } {
  const data = parts.flatMap((part) => (part.kind === "data" ? [part.data] : []));
  const texts = parts.filter((part) => part.kind !== "data");
  if (data.length !== 1) return { text: partsText(parts) };
  return { text: texts.length === 0 ? JSON.stringify(data[0], null, 2) : partsText(texts), data: data[0] };
}

function partsText(parts: readonly RemotePart[]): string {
  return parts
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
  }
}

/** Where our own server says what a task used; others may, too. */
export const USAGE_KEY = "subcrew.usage";

/** What a task is said to have used so far; `undefined` where that is not said, or not in numbers that make sense. */
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

/** What came on top of what was told before. */
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
