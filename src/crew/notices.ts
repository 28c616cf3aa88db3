import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { explain } from "../core/outcome/outcome.ts";
import type { Event } from "../core/run/event.ts";
import type { State } from "../core/run/state.ts";
import { messageOf } from "../core/schema/error.ts";
import { passedEnv } from "../core/secrets/pass-env.ts";
import { describe } from "../core/view/nodes.ts";
import { terminalLine } from "../core/view/words.ts";
import { appendRegularSync } from "../runtime/disk/regular-file.ts";
import { createGuardedFetch } from "../runtime/network/guarded-fetch.ts";
import type { Feature } from "../runtime/features/feature.ts";

/** A notification: a run needs the person, or has ended. */
export type Notice = Readonly<{
  event: "needs-you" | "done";
  run: string;
  /** A text that says what the run is about. */
  title: string;
  /** The task with the question; empty for the run itself. */
  task: string;
  /** The outcome of an ended run: `ok`, `failed` or `cancelled`. */
  status?: string;
  /** The question, or how the run ended. */
  text: string;
}>;

export const noticesFeature: Feature = {
  name: "notices",
  does: "notifies the person, if the settings ask for it, when the run needs an answer and when it ends",
  open: ({ settings: { notify, network } = {}, env = {}, home, state }) => {
    if (!notify) return {};
    const kinds = notify.on ?? ["needs-you", "done"];
    const options = { notify, network, env, ...(home !== undefined && { log: join(home, "notify.log") }) };
    const sent: Promise<void>[] = [];
    let last: Promise<void> = Promise.resolve();
    return {
      publish: (inner) => (event) => {
        inner(event);
        const notice = noticeOf(event, state);
        if (!notice || !kinds.includes(notice.event)) return;
        last = settledWithin(ORDER_MS, last).then(() => tell(notice, options));
        sent.push(last);
      },
      closed: async () => void (await Promise.all(sent)),
    };
  },
};

type NotifyOptions = Readonly<{
  notify: Config["notify"];
  network: Config["network"];
  env: Readonly<Record<string, string | undefined>>;
  /** The file for errors of notifications; absent: they are discarded. */
  log?: string | undefined;
}>;

/** Timeout for sending notifications at the end of a run. */
const TIMEOUT_MS = 10_000;
/** How long a notification waits for the previous notification, so that they arrive in the order of their events. */
const ORDER_MS = 5_000;

/** Waits for work that does not reject, at most `ms` milliseconds. */
function settledWithin(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => (clearTimeout(timer), resolve()));
  });
}

function noticeOf(event: Event, state: State): Notice | undefined {
  const about = { run: state.run, title: describe(state) };
  switch (event.type) {
    case "gate.opened":
      return { ...about, event: "needs-you", task: event.path, text: event.question };
    case "node.parked":
      return event.waitsFor === "person" || (event.until === undefined && event.nextTry === undefined)
        ? { ...about, event: "needs-you", task: event.path, text: `${event.why}. ${event.helps}` }
        : undefined;
    case "run.ended": {
      const { status } = event.outcome;
      return { ...about, event: "done", task: "", status, text: status === "ok" ? "ok" : explain(event.outcome) };
    }
    default:
      return undefined;
  }
}

/** Sends a notification through every channel of the settings. A failure is logged and has no other effect. */
async function tell(notice: Notice, { notify, network, env, log }: NotifyOptions): Promise<void> {
  const ways: readonly (readonly [string, Promise<unknown>])[] = [
    ...(notify?.command === undefined ? [] : [["command", ran(notify.command, notice, env)] as const]),
    ...(notify?.webhook === undefined ? [] : [["webhook", posted(notify.webhook, notice, { network, env })] as const]),
  ];
  const failed = async (how: string, error: unknown): Promise<void> => {
    if (log === undefined) return;
    const line = `${new Date().toISOString()} ${notice.run} ${how}: ${terminalLine(messageOf(error))}\n`;
    await mkdir(dirname(log), { recursive: true, mode: 0o700 })
      .then(() => appendRegularSync(log, line))
      .catch(() => {}); // a full disk must not end a run
  };
  // All channels at once: if they were awaited one after the other, an early failure of a later channel would end the
  // process.
  await Promise.all(ways.map(([how, done]) => done.catch((error: unknown) => failed(how, error))));
}

/** Runs a command of the user. Text of a run is never part of its command line, only of its variables and its input. */
function ran(command: string, notice: Notice, env: NotifyOptions["env"]): Promise<void> {
  return new Promise((done, fail) => {
    const variables = {
      ...passedEnv(env, DESKTOP_VARIABLES),
      SUBCREW_EVENT: notice.event,
      SUBCREW_RUN: notice.run,
      SUBCREW_TASK: notice.task,
      SUBCREW_STATUS: notice.status ?? "",
      SUBCREW_TITLE: terminalLine(notice.title),
      SUBCREW_TEXT: terminalLine(notice.text),
    };
    const child = execFile(
      "/bin/sh",
      ["-c", command],
      { env: variables, timeout: TIMEOUT_MS, maxBuffer: 1_000_000 },
      (error) => (error ? fail(error) : done()),
    );
    child.stdin?.on("error", () => {}).end(`${JSON.stringify(notice)}\n`);
  });
}

/** Environment variables that a program needs to show a message on the user's desktop. */
const DESKTOP_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY"];

async function posted(
  url: string,
  notice: Notice,
  { network, env }: Pick<NotifyOptions, "network" | "env">,
): Promise<void> {
  const rules = Object.fromEntries(Object.entries(network ?? {}).filter(([, value]) => value !== undefined));
  const fetch = createGuardedFetch(rules, { timeoutMs: TIMEOUT_MS, env });
  const { status } = await fetch(
    { url, method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(notice) },
    new AbortController().signal,
  );
  if (status >= 300) throw new Error(`the webhook answered with ${status}`);
}
