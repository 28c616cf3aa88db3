import type { Outcome } from "../../core/outcome/outcome.ts";
import type { Fact } from "../../core/run/event.ts";
import type { PerformContext } from "../../core/task/engine.ts";
import type { Job } from "../../core/task/job.ts";
import { serveChild } from "../../runtime/channel/parent-side.ts";
import type { FromTask, HostChannel } from "../../runtime/channel/protocol.ts";
import type { Database } from "../postgres/database.ts";
import type { EventWriter } from "../postgres/event-writer.ts";
import type { CallEpoch } from "./call-table.ts";
import { heardMessages } from "./heard.ts";
import type { Inbox } from "./inbox.ts";
import { mailTo } from "./task-channel.ts";

/**
 * One epoch of a task (the time with one worker) as its run sees it: the messages, requests and outcome of the worker.
 */
export type Session = Readonly<{
  outcome: Promise<Outcome>;
  /** Resolves when the worker of the epoch has sent something. */
  heard: Promise<void>;
  /** True when a worker has begun the task. */
  isBegun(): boolean;
  /** True when progress of the task was recorded. */
  hasProgress(): boolean;
  cancel(reason: string): void;
  /** Receives everything that was sent so far. */
  received(): Promise<void>;
  /**
   * Receives everything that was sent so far, releases what the worker had reserved from the budget and stops
   * listening.
   */
  close(): Promise<Outcome | undefined>;
}>;

export type SessionParts = Readonly<{
  database: Database;
  inbox: Inbox;
  /** The event writer of the run; absent when the run is not recorded by this process. */
  writer: EventWriter | undefined;
}>;

/**
 * Events that count as progress: without such an event, a new worker would start at the same point as the last worker.
 */
const PROGRESS: ReadonlySet<Fact["type"]> = new Set(["turn.ended", "tool.ended", "message.sent", "node.unparked"]);

export function openSession(
  { database, inbox, writer }: SessionParts,
  { call, epoch }: CallEpoch,
  { job, context }: Readonly<{ job: Job; context: PerformContext }>,
): Session {
  const mail = mailTo(database, { call, epoch });
  let receive: (message: FromTask) => void = () => {};
  let progress = false;
  let ended: Outcome | undefined;
  let isBegun = false;
  let isHeard = (): void => {};
  const heard = new Promise<void>((resolve) => (isHeard = resolve));
  const deliver = (message: FromTask, fact: number): void => {
    isBegun = true;
    isHeard();
    if (message.type === "ended") ended = message.outcome;
    if (message.type !== "emit") return receive(message);
    if (PROGRESS.has(message.fact.type)) progress = true;
    if (writer) writer.during({ call, epoch, fact }, () => receive(message));
    else receive(message);
  };
  const channel: HostChannel = {
    send: (message) => {
      if (message.type !== "job") mail.send(message); // the job is not sent, because it is in the task's row
    },
    listen: (heard) => {
      receive = heard;
    },
    close: mail.sent,
  };
  const hosted = serveChild(channel, job, context);
  const subscribed = inbox.subscribe({
    call,
    epoch,
    receive: (messages, number) =>
      heardMessages(messages).forEach((message, at) => message && deliver(message, number + at)),
    live: (message) => receive(message),
  });
  return {
    outcome: hosted.outcome,
    heard,
    isBegun: () => isBegun,
    hasProgress: () => progress,
    cancel: hosted.cancel,
    received: subscribed.drained,
    close: async () => {
      await subscribed.drained();
      subscribed.stop();
      hosted.leave();
      return ended;
    },
  };
}
