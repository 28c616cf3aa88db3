import type { Event } from "../core/run/event.ts";
import type { State } from "../core/run/state.ts";
import { nodeTitle } from "../core/view/nodes.ts";
import type { WaitedRun } from "./runs.ts";
import type { CallContext } from "./sdk.ts";

/** The shortest interval between two progress messages. */
const EVERY_MS = 100;

/** Sends the progress of a run to a client that requested it; returns a function that stops it. */
export function reportProgress({ listen, told }: WaitedRun, { mcpReq }: CallContext): () => void {
  const { _meta: { progressToken } = {} } = mcpReq;
  if (progressToken === undefined) return () => {};
  let last = Number.NEGATIVE_INFINITY;
  return listen((event, state) => {
    const message = lineFor(event, state);
    if (message === undefined) return;
    const now = performance.now();
    if (event.type === "tool.started" && now - last < EVERY_MS) return;
    last = now;
    told.times += 1;
    const params = { progressToken, progress: told.times, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // this fails when the client has disconnected, which is not an error
  });
}

/** The progress line for an event; `undefined` for an event that is not reported as progress. */
function lineFor(event: Event, { nodes }: State): string | undefined {
  const view = nodes.get(event.path);
  const name = view ? nodeTitle(view) : event.path;
  switch (event.type) {
    case "run.started":
      return `${event.run} started`;
    case "node.started":
      return `${name} started`;
    case "node.ended":
      return view?.kind === "join" ? undefined : `${name}: ${event.outcome.status}`;
    case "tool.started":
      return `${name}: ${event.tool} ${event.preview}`.trimEnd();
    case "gate.opened":
      return `${name} waits for an answer`;
    default:
      return undefined;
  }
}
