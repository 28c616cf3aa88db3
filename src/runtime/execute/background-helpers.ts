import { excerptOf, shareOf } from "../../core/outcome/excerpt.ts";
import { type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { UnawaitedHelpers, DelegationOutcome, Parent } from "../../core/task/engine.ts";
import { defined } from "../../core/text/defined.ts";
import { stopped } from "../async/cancel.ts";
import { unlessAborted } from "../async/unless-aborted.ts";
import type { RunScope } from "./scope.ts";
import { postMessage } from "./send-message.ts";

/** The plans that a task started in the background. */
export type BackgroundHelpers = Readonly<{
  /** Starts a plan in the background; its result is sent to the task as a message. */
  background: UnawaitedHelpers;
  /**
   * Waits until a subagent in the background has ended; false when there is no such subagent, or the signal aborted
   * first.
   */
  news(signal: AbortSignal): Promise<boolean>;
}>;

/** A started plan: its path and its outcome. */
export type LaunchedHelper = Readonly<{ plan: Plan; under: string; ended: Promise<DelegationOutcome> }>;
export type CancelledOutcome = Extract<Outcome, { status: "cancelled" }>;
export type LaunchHelper = (
  what: AnyInput | Plan,
  parent: Parent,
  stop: AbortSignal,
) => Promise<LaunchedHelper | FailedOutcome | CancelledOutcome>;

/** Creates the background subagents of a task. */
export function createBackgroundHelpers({
  path,
  run,
  launch,
}: Readonly<{ path: string; run: RunScope; launch: LaunchHelper }>): BackgroundHelpers {
  type Helper = { readonly ended: Promise<DelegationOutcome>; readonly controller: AbortController; over: boolean };
  const helpers = new Map<string, Helper>();
  return {
    background: {
      start: async (what, parent) => {
        const controller = new AbortController();
        const launched = await launch(what, parent, controller.signal);
        if (!("ended" in launched))
          return launched.status === "failed"
            ? launched
            : failed("DENIED", `The task was not started: ${launched.reason}.`);
        const { under, plan } = launched;
        const promised = filesOf(plan, async (id) => run.outputFile?.(under + id));
        const ended = launched.ended.then(async (delegated) => {
          const files = await promised;
          helper.over = true;
          const text = newsOf(delegated, { run: run.id, files, chars: parent.resultChars });
          postMessage(run, path, { from: `${run.id}/${under}${plan.output}`, text });
          return delegated;
        });
        ended.catch(() => {}); // the code that awaits the promise handles the rejection
        const helper: Helper = { ended, controller, over: false };
        helpers.set(under, helper);
        return { key: under, under, files: await promised };
      },
      ended: async (under, signal) => {
        const helper = helpers.get(under);
        return helper && unlessAborted(helper.ended, signal);
      },
      stop: async (under, reason) => {
        const helper = helpers.get(under);
        if (!helper || helper.over) return false;
        helper.controller.abort(stopped(reason));
        return true;
      },
    },
    news: async (signal) => {
      const working = [...helpers.values()].filter(({ over }) => !over);
      if (working.length === 0) return false;
      return (await unlessAborted(Promise.race(working.map(({ ended }) => ended)), signal)) !== undefined;
    },
  };
}

/** Output files of a plan by node; files that cannot be created are left out. */
export async function filesOf(
  { nodes }: Plan,
  fileOf: (id: string) => Promise<string | undefined>,
): Promise<Record<string, string>> {
  const all = Object.keys(nodes).map(async (id) => [id, await fileOf(id).catch(() => undefined)] as const);
  return Object.fromEntries((await Promise.all(all)).flatMap(([id, file]) => (file === undefined ? [] : [[id, file]])));
}

/** The message to a task when its background subagents have ended: each with its id, its end and its result. */
export function newsOf(
  delegated: DelegationOutcome,
  { run, files, chars }: Readonly<{ run: string; files: Readonly<Record<string, string>>; chars?: number | undefined }>,
): string {
  const nodes = Object.entries(delegated.nodes ?? {}).filter(([, outcome]) => !("from" in outcome));
  if (nodes.length === 0) return excerptOf(delegated, shareOf(chars, 1));
  const parts = nodes.map(([id, outcome]) => {
    const result = excerptOf({ ...outcome, ...defined({ file: files[id] }) }, shareOf(chars, nodes.length));
    return `${delegated.run ?? run}/${delegated.under ?? ""}${id}: ${outcome.status}\n\n${result}`;
  });
  return parts.join("\n\n");
}
