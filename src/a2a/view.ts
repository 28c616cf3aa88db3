import {
  type RemoteArtifact,
  type RemoteMessage,
  type RemoteState,
  type RemoteStatus,
  type RemoteTask,
  USAGE_KEY,
} from "../core/net/a2a.ts";
import type { Outcome } from "../core/outcome/outcome.ts";
import type { Origin } from "../core/run/event.ts";
import { parkedRun, parkedUntil } from "../core/run/parked-run.ts";
import { type RunStatus, openQuestions, type Question } from "../core/run/run-status.ts";
import type { State } from "../core/run/state.ts";

/** The pause reason of runs that were active when the server was stopped. They are resumed at its next start. */
export const STOPPED = "the A2A server was stopped";

/** The data from which the A2A view of a run is made, besides the run's state. */
export type ViewContext = Readonly<{
  life: RunStatus | "damaged";
  origin: Origin;
  /** True for a question that the caller may answer; other questions wait for the owner of this machine. */
  isForCaller(question: Question): boolean;
}>;

/** A run as a task of the A2A protocol, computed from the run's state. */
export function taskView(state: State, seen: ViewContext): RemoteTask {
  const { outcome, usage, cost } = state;
  return {
    kind: "task",
    id: state.run,
    contextId: seen.origin.context,
    status: remoteStatusOf(state, seen),
    artifacts: outcome ? artifactsOf(outcome) : [],
    history: historyOf(state, seen.origin),
    metadata: { [USAGE_KEY]: { usage, cost } },
  };
}

/** The state of a run in the terms of the A2A protocol, with a message if the state needs an explanation. */
export function remoteStatusOf(state: State, { life, origin, isForCaller }: ViewContext): RemoteStatus {
  const at = new Date(
    state.endedAt ?? Math.max(state.startedAt, ...openQuestions(state).map(({ askedAt }) => askedAt)),
  ).toISOString();
  const status = (name: RemoteState, text?: string): RemoteStatus => ({
    state: name,
    timestamp: at,
    ...(text !== undefined && { message: agentMessage(text, state, origin) }),
  });
  if (state.outcome) return ended(state.outcome, status);
  const [first] = openQuestions(state);
  if (first && life !== "interrupted")
    return isForCaller(first) ? status("input-required", first.question) : status("auth-required", WAITS_FOR_OWNER);
  return status(BY_LIFE[life], STANDS_STILL[life] ?? parkedWords(state));
}

/**
 * The reason why all tasks of a run are parked, that is, wait for a provider; `undefined` if any task is not parked.
 */
function parkedWords(state: State): string | undefined {
  const parked = parkedRun(state);
  return parked && ["parked:", parked.why, parkedUntil(parked), parked.helps].filter((part) => part !== "").join(" ");
}

const WAITS_FOR_OWNER = "The task waits until the owner of this agent approves a tool call.";
const STANDS_STILL: Readonly<Partial<Record<ViewContext["life"], string>>> = {
  interrupted: "The task was interrupted; it continues when the server resumes it.",
  paused: "The task is paused; it continues when the owner of this agent or the server resumes it.",
};

const BY_LIFE: Readonly<Record<ViewContext["life"], RemoteState>> = {
  starting: "submitted",
  running: "working",
  waiting: "working",
  parked: "working",
  paused: "unknown",
  interrupted: "unknown",
  damaged: "unknown",
  ok: "completed",
  failed: "failed",
  cancelled: "canceled",
};

function ended(outcome: Outcome, status: (name: RemoteState, text?: string) => RemoteStatus): RemoteStatus {
  switch (outcome.status) {
    case "ok":
      return status("completed");
    case "failed":
      return status(
        outcome.fault.code === "DENIED" ? "rejected" : "failed",
        `${outcome.fault.message} (${outcome.fault.code})`,
      );
    case "cancelled":
      return status("canceled", outcome.reason);
    case "skipped":
      return status("failed", `skipped because ${outcome.because} did not succeed`);
  }
}

/** The artifact of a task: its result, or its partial output. */
export function artifactsOf(outcome: Outcome): RemoteArtifact[] {
  const text = "output" in outcome ? (outcome.output ?? "") : "";
  const data = "data" in outcome ? outcome.data : undefined;
  if (text === "" && data === undefined) return [];
  return [
    {
      artifactId: RESULT,
      ...(outcome.status !== "ok" && { name: "partial" }),
      parts: [
        ...(text === "" ? [] : [{ kind: "text" as const, text }]),
        ...(data === undefined || data === null || typeof data !== "object" ? [] : [{ kind: "data" as const, data }]),
      ],
    },
  ];
}

/** The id of the only artifact of a task. */
export const RESULT = "result";

function historyOf({ plan, run }: State, { context }: Origin): RemoteMessage[] {
  const node = plan?.nodes[plan.output];
  if (node?.kind !== "task") return [];
  const parts = [{ kind: "text" as const, text: node.task.prompt }];
  return [{ kind: "message", messageId: `${run}-asked`, role: "user", parts, contextId: context, taskId: run }];
}

/** A message of the agent. Its id depends on the run and its last event, so a repeated message keeps its id. */
export function agentMessage(text: string, { run, seq }: State, { context }: Origin): RemoteMessage {
  return {
    kind: "message",
    messageId: `${run}-${seq}`,
    role: "agent",
    parts: [{ kind: "text", text }],
    contextId: context,
    taskId: run,
  };
}
