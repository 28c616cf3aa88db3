import type {
  RemoteArtifact,
  RemoteMessage,
  RemotePart,
  RemoteState,
  RemoteStatus,
  RemoteTask,
  RemoteUpdate,
} from "../core/net/a2a.ts";
import type { PushConfig } from "./push.ts";

/** A message in the format of A2A protocol version 1.0, limited to the fields that are read. */
type WireMessage = Readonly<{
  messageId: string;
  contextId: string;
  taskId: string;
  parts: readonly WirePart[];
}>;

type WirePart = Readonly<{
  content?:
    | Readonly<{ $case: "text"; value: string }>
    | Readonly<{ $case: "raw"; value: Uint8Array }>
    | Readonly<{ $case: "url"; value: string }>
    | Readonly<{ $case: "data"; value: unknown }>
    | undefined;
  filename: string;
  mediaType: string;
}>;

/** Parses a message from an A2A client. */
export function messageIn(message: WireMessage | undefined): RemoteMessage {
  const { messageId = "", contextId, taskId, parts = [] } = message ?? {};
  return {
    kind: "message",
    messageId,
    role: "user",
    parts: parts.flatMap(partIn),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
  };
}

/** Parses one part of a message. A file is only named, and never fetched; the text of an attached file is read. */
function partIn({ content, filename, mediaType }: WirePart): RemotePart[] {
  const file = filename ? { name: filename } : {};
  switch (content?.$case) {
    case "text":
      return [{ kind: "text", text: content.value }];
    case "data":
      return [{ kind: "data", data: content.value }];
    case "url":
      return [{ kind: "file", file: { ...file, uri: content.value } }];
    case "raw":
      return /^text\/|json$/.test(mediaType)
        ? [{ kind: "text", text: Buffer.from(content.value).toString("utf8") }]
        : [{ kind: "file", file: { ...file, bytes: "" } }];
    case undefined:
      return [];
  }
}

/** Formats one update of a stream. */
export function responseOf(update: RemoteUpdate) {
  switch (update.kind) {
    case "message":
      return { payload: { $case: "message" as const, value: messageOfOurs(update) } };
    case "task":
      return { payload: { $case: "task" as const, value: taskOf(update) } };
    case "status-update": {
      const { taskId, contextId, status, metadata } = update;
      return {
        payload: {
          $case: "statusUpdate" as const,
          value: { taskId, contextId, status: statusOf(status), metadata: metadata && { ...metadata } },
        },
      };
    }
    case "artifact-update": {
      const { taskId, contextId, artifact, append = false, lastChunk = false } = update;
      return {
        payload: {
          $case: "artifactUpdate" as const,
          value: { taskId, contextId, artifact: artifactOf(artifact), append, lastChunk, metadata: undefined },
        },
      };
    }
  }
}

/** Formats a task, with the last messages of its history. */
export function taskOf({ id, contextId, status, artifacts = [], history = [], metadata }: RemoteTask, length?: number) {
  const shown = length === undefined ? history : length === 0 ? [] : history.slice(-length);
  return {
    id,
    contextId,
    status: statusOf(status),
    artifacts: artifacts.map(artifactOf),
    history: shown.map(messageOfOurs),
    metadata: metadata && { ...metadata },
  };
}

function statusOf({ state, message, timestamp }: RemoteStatus) {
  return { state: NUMBERS[state], message: message && messageOfOurs(message), timestamp };
}

/** True for a task in the state with this number. */
export const hasState = ({ status }: RemoteTask, wanted: number): boolean => NUMBERS[status.state] === wanted;

/** The numbers that the A2A protocol uses for the states of a task. */
const NUMBERS: Readonly<Record<RemoteState, number>> = {
  unknown: 0,
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  "input-required": 6,
  rejected: 7,
  "auth-required": 8,
};

function messageOfOurs({ messageId, role, parts, contextId = "", taskId = "" }: RemoteMessage) {
  return {
    messageId,
    contextId,
    taskId,
    role: role === "user" ? 1 : 2,
    parts: parts.map(partOf),
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

const artifactOf = ({ artifactId, name = "", parts }: RemoteArtifact) => ({
  artifactId,
  name,
  description: "",
  parts: parts.map(partOf),
  metadata: undefined,
  extensions: [],
});

function partOf(part: RemotePart) {
  const base = { metadata: undefined, filename: "", mediaType: "" };
  switch (part.kind) {
    case "text":
      return { ...base, content: { $case: "text" as const, value: part.text }, mediaType: "text/plain" };
    case "data":
      return { ...base, content: { $case: "data" as const, value: part.data }, mediaType: "application/json" };
    case "file":
      return {
        ...base,
        content: { $case: "url" as const, value: part.file.uri ?? "" },
        filename: part.file.name ?? "",
      };
  }
}

/** Formats a push configuration for the A2A protocol. */
export function pushOf({ id, url, token = "", authentication }: PushConfig, taskId: string) {
  return { tenant: "", id, taskId, url, token, authentication: authentication && { ...authentication } };
}
