import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { type HookName, isAddress } from "../core/config/hooks.ts";
import { explain } from "../core/outcome/outcome.ts";
import { type Event, facts, type KeptEvent, type Parking } from "../core/run/event.ts";
import type { State } from "../core/run/state.ts";
import { messageOf } from "../core/schema/error.ts";
import { passedEnv } from "../core/secrets/pass-env.ts";
import { describe } from "../core/view/nodes.ts";
import { terminalLine } from "../core/view/words.ts";
import { beforeExit } from "../runtime/async/before-exit.ts";
import { appendRegularSync } from "../runtime/disk/regular-file.ts";
import { createGuardedFetch } from "../runtime/network/guarded-fetch.ts";
import type { Feature } from "../runtime/features/feature.ts";

export const hooksFeature: Feature = {
  name: "hooks",
  does: "runs the commands, and asks the addresses, that the settings name for events of the run, which never waits for them",
  open: ({ settings: { on, network } = {}, env = {}, home, state }) => {
    if (!on) return {};
    const parts = { network, env, log: home === undefined ? undefined : join(home, "hooks.log") };
    let last: Promise<void> = Promise.resolve();
    return {
      publish: (inner) => (event) => {
        const due = isRecorded(event) ? namesOf(event, state).map((name) => ({ name, hook: on[name], event })) : [];
        inner(event);
        for (const { hook, ...about } of due) {
          if (hook === undefined) continue;
          last = carryOut({ ...about, hook, title: describe(state) }, last, parts);
          beforeExit.add(last);
        }
      },
    };
  },
};

/** A hook that an event started. */
type Hooked = Readonly<{ hook: string; name: HookName; event: KeptEvent; title: string }>;

type Parts = Readonly<{
  network: Config["network"];
  env: Readonly<Record<string, string | undefined>>;
  /** The file for errors of hooks; absent: they are discarded. */
  log: string | undefined;
}>;

/** The time limit of a hook, which begins with its event. */
const TIMEOUT_MS = 10_000;
/** How long a hook waits for the previous hook, so that hooks run in the order of their events. */
const ORDER_MS = 5_000;

const isRecorded = (event: Event): event is KeptEvent => Object.hasOwn(facts, event.type);

/**
 * The names under which an event may have hooks. It has none if it only repeats what a person already knows: a resumed
 * run records an open question again. `state`: before the event.
 */
function namesOf(event: KeptEvent, state: State): readonly HookName[] {
  const before = state.nodes.get(event.path);
  if (event.type === "gate.opened") return before?.question === event.question ? [] : ["needs-you", event.type];
  if (event.type === "node.parked" && needsPerson(event))
    return before?.parked?.why === event.why ? [] : ["needs-you", event.type];
  return [event.type];
}

const needsPerson = ({ waitsFor, until, nextTry }: Parking): boolean =>
  waitsFor === "person" || (until === undefined && nextTry === undefined);

/** The event in words: what it says itself, else the meaning of its type. */
function textOf(event: KeptEvent): string {
  if (event.type === "gate.opened") return event.question;
  if (event.type === "node.parked") return `${event.why}. ${event.helps}`;
  if ("outcome" in event) return event.outcome.status === "ok" ? "ok" : explain(event.outcome);
  if ("reason" in event) return event.reason;
  return ("text" in event && event.text) || (facts[event.type].description ?? "");
}

/** Carries out one hook after the previous one. A failure is logged and has no other effect. */
async function carryOut(hooked: Hooked, previous: Promise<void>, { log, ...parts }: Parts): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await settledWithin(ORDER_MS, previous);
    signal.throwIfAborted();
    await (isAddress(hooked.hook) ? post(hooked, parts, signal) : runCommand(hooked, parts, signal));
  } catch (error) {
    if (log === undefined) return;
    const line = `${new Date().toISOString()} ${hooked.event.run} ${hooked.name}: ${terminalLine(messageOf(error))}\n`;
    await mkdir(dirname(log), { recursive: true, mode: 0o700 })
      .then(() => appendRegularSync(log, line))
      .catch(() => {}); // a full disk must not end a run
  }
}

/** Waits for work that does not reject, at most `ms` milliseconds. */
function settledWithin(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => (clearTimeout(timer), resolve()));
  });
}

/** The JSON that a hook gets. A `text` of the event itself takes precedence. */
const jsonOf = ({ name, event, title }: Hooked): string =>
  JSON.stringify({ event: name, title, text: textOf(event), ...event });

/** Runs a command of the user. Text of a run is never part of its command line, only of its variables and its input. */
function runCommand(hooked: Hooked, { env }: Pick<Parts, "env">, signal: AbortSignal): Promise<void> {
  const { hook, name, event, title } = hooked;
  const variables = {
    ...passedEnv(env, DESKTOP_VARIABLES),
    SUBCREW_EVENT: name,
    SUBCREW_RUN: event.run,
    SUBCREW_TASK: event.path,
    SUBCREW_STATUS: "outcome" in event ? event.outcome.status : "",
    SUBCREW_TITLE: terminalLine(title),
    SUBCREW_TEXT: terminalLine(textOf(event)),
  };
  return new Promise((done, fail) => {
    // a process group of its own, which the time limit ends as a whole, and which Ctrl-C does not reach
    const child = spawn("/bin/sh", ["-c", hook], { env: variables, detached: true, stdio: ["pipe", "ignore", "pipe"] });
    let errors = "";
    const stop = (): void => {
      if (child.pid !== undefined) killGroup(child.pid);
      fail(new Error(`the command was ended after ${TIMEOUT_MS / 1_000} s`));
    };
    signal.addEventListener("abort", stop);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-ERROR_CHARS)));
    child.on("error", fail).on("close", (code, by) => {
      signal.removeEventListener("abort", stop);
      if (code === 0) done();
      else fail(new Error(`the command ended with ${by ?? `exit code ${code}`}: ${errors}`));
    });
    child.stdin.on("error", () => {}).end(`${jsonOf(hooked)}\n`);
  });
}

/** How much of a failed command's error output is logged, from its end. */
const ERROR_CHARS = 1_000;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group has ended
  }
}

/** Environment variables that a program needs to show a message on the user's desktop. */
const DESKTOP_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY"];

async function post(hooked: Hooked, { network, env }: Omit<Parts, "log">, signal: AbortSignal): Promise<void> {
  const rules = Object.fromEntries(Object.entries(network ?? {}).filter(([, value]) => value !== undefined));
  const fetch = createGuardedFetch(rules, { timeoutMs: TIMEOUT_MS, env });
  const { status } = await fetch(
    { url: hooked.hook, method: "POST", headers: { "content-type": "application/json" }, body: jsonOf(hooked) },
    signal,
  );
  if (status >= 300) throw new Error(`the address answered with ${status}`);
}
