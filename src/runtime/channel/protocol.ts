import type { Catalog } from "../../core/delegation/catalog.ts";
import type { FailedOutcome, Outcome } from "../../core/outcome/outcome.ts";
import type { Answer } from "../../core/plan/gate.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { Amount, Budget, BudgetRefusal } from "../../core/run/budget.ts";
import type { Delta, Fact, KeptEvent, Parking } from "../../core/run/event.ts";
import type {
  DelegationOutcome,
  HelperNotice,
  Parent,
  ReturnedChanges,
  StartedNode,
  Delivery,
} from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import type { WorkspaceSnapshot } from "../../core/task/workspace-snapshot.ts";
import { isRecord } from "../../core/text/json.ts";

/** The requests that a task sends to its parent process, each with the type of its answer. */
export type Requests = {
  durable: { give: null; get: void };
  delegate: { give: { what: AnyInput | Plan; parent: Parent }; get: DelegationOutcome };
  start: { give: { what: AnyInput | Plan; parent: Parent; tells: HelperNotice }; get: StartedNode | FailedOutcome };
  ended: { give: string; get: DelegationOutcome | undefined };
  stop: { give: { key: string; reason: string }; get: boolean };
  agents: { give: null; get: Catalog };
  send: { give: { to: string; text: string }; get: Delivery };
  reserve: { give: Parameters<Budget["reserve"]>[0]; get: BudgetRefusal | undefined };
  count: { give: Parameters<Budget["count"]>[0]; get: BudgetRefusal | undefined };
  room: { give: null; get: number | undefined };
  ask: {
    give: { question: string; call: string; wants?: "words"; offersNetwork?: true; inPerson?: true };
    get: Answer | undefined;
  };
  mail: { give: { wait: boolean }; get: readonly string[] };
  /**
   * Lets the task park (wait). The answer is false if the task was stopped meanwhile; otherwise `unpark` names the
   * reason for continuing.
   */
  park: { give: Parking; get: boolean };
  unpark: { give: string; get: boolean };
  /** Waits until it is decided whether the changes of this task of a race are used. */
  claim: { give: null; get: boolean };
  /** The events recorded for this attempt before this process took it over. */
  past: { give: null; get: readonly KeptEvent[] };
  /** Asks the parent process for the files of the workspace. */
  workspace: { give: readonly string[] | null; get: WorkspaceSnapshot | Readonly<{ unable: string }> };
  /** The changes that subagents have returned to the files of the task. */
  returned: { give: null; get: readonly ReturnedChanges[] };
  /** Calls the recording (cassette) of the run. */
  tape: { give: { method: string; values: readonly unknown[] }; get: object | undefined };
};

/** One request; its answer has the same number. */
export type ChildRequest = { [K in keyof Requests]: Readonly<{ ask: K; give: Requests[K]["give"] }> }[keyof Requests];

/** Messages to the task. A budget reservation is identified by the number of the request that made it. */
export type ToTask =
  /**
   * Sent before the job by a runner that starts a child. It contains the data about this machine that the child needs
   * and that a job never contains.
   */
  | Readonly<{ type: "setup"; setup: unknown }>
  | Readonly<{ type: "job"; job: Job }>
  | Readonly<{ type: "answer"; id: number; get?: unknown }>
  | Readonly<{ type: "broken"; id: number; message: string }>
  | Readonly<{ type: "revoke"; id: number }>
  | Readonly<{ type: "urgent" }>
  | Readonly<{ type: "ping" }>
  | Readonly<{ type: "cancel"; reason: string }>;

/** Messages from a task to its parent process. */
export type FromTask =
  | Readonly<{ type: "emit"; fact: Fact }>
  | Readonly<{ type: "live"; delta: Delta }>
  | Readonly<{ type: "tell"; text: string }>
  | Readonly<{ type: "request"; id: number; request: ChildRequest }>
  /** Cancels a request that the task sent earlier. */
  | Readonly<{ type: "drop"; id: number }>
  | Readonly<{ type: "settle"; id: number; actual: Amount }>
  | Readonly<{ type: "release"; id: number }>
  | Readonly<{ type: "pong" }>
  | Readonly<{ type: "ended"; outcome: Outcome }>;

/** Delivers messages in order, each as a copy. Messages sent after the other side is gone are dropped. */
export type Channel<In, Out> = Readonly<{
  send(message: Out): void;
  /** Called once. `gone`: the other side has closed the channel. */
  listen(receive: (message: In) => void, gone: () => void): void;
  /** Resolves when everything that was sent has been passed on to the system. */
  close(): Promise<void>;
}>;

/** The channel as the parent sees it, and as the task sees it. */
export type HostChannel = Channel<FromTask, ToTask>;
export type TaskChannel = Channel<ToTask, FromTask>;

/** Checks only the type of a message. No further check is needed, because both sides are the same program. */
export function isMessage(value: unknown): value is Readonly<{ type: string }> {
  return isRecord(value) && typeof value["type"] === "string";
}
