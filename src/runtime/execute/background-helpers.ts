import { explain, type FailedOutcome, failed, type Outcome } from "../../core/outcome/outcome.ts";
import { limitNote } from "../../core/outcome/reached-limit.ts";
import type { AnyInput } from "../../core/plan/input.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { UnawaitedHelpers, DelegationOutcome, Parent, HelperNotice } from "../../core/task/engine.ts";
import { cutHead } from "../../core/text/cut.ts";
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
      start: async (what, parent, tells) => {
        const controller = new AbortController();
        const launched = await launch(what, parent, controller.signal);
        if (!("ended" in launched))
          return launched.status === "failed"
            ? launched
            : failed("DENIED", `The task was not started: ${launched.reason}.`);
        const { under, plan } = launched;
        const promised = filesOf(plan, async (id) => run.outputFile?.(under + id));
        const ended = launched.ended.then(async (delegated) => {
          const [file] = Object.values(await promised);
          helper.over = true;
          postMessage(run, path, { from: under + plan.output, text: newsOf(delegated, tells, file) });
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

/** The message to a task when its background subagents have ended. */
function newsOf(delegated: DelegationOutcome, tells: HelperNotice, file: string | undefined): string {
  const nodes = Object.entries(delegated.nodes ?? {});
  const lines = nodes.map(([id, { status }]) => `${delegated.under}${id}: ${status}`);
  if (tells === "ending") return `Ended in the background:\n${lines.join("\n")}`;
  const { text, cut } = cutHead("output" in delegated && delegated.output ? delegated.output : explain(delegated));
  return `${lines.join("\n")}\n\n${text}${cut && file !== undefined ? `\n\n... [cut, full output: ${file}]` : ""}${delegated.limit === undefined ? "" : `\n\n[${limitNote(delegated)}]`}`;
}
