import type { Delta, Fact } from "../../core/run/event.ts";
import { DEEPEST_RECORD, isRecord, parseJson } from "../../core/text/json.ts";
import { type FromTask, isMessage } from "../../runtime/channel/protocol.ts";

/** Events that only the process of a run records. */
const OF_THE_RUN = /^(run|plan|gate)\.|^node\.(started|ended|retried|won|paused|resumed)$/;
/** The keys that the process of a run adds to each event: its place in the run. */
const PLACE: ReadonlySet<string> = new Set(["seq", "run", "path", "at"]);

/**
 * The messages in a row of a worker. A row can be forged. Without this check, an event that a task does not emit would
 * be recorded, or an event with a place of its own in the run (the path of another task).
 */
export function heardMessages(body: unknown): readonly (FromTask | undefined)[] {
  if (!Array.isArray(body)) return [];
  return (body as readonly unknown[]).map((message) => {
    if (!isMessage(message)) return undefined;
    const heard = message as FromTask;
    if (heard.type !== "emit") return heard;
    const fact: unknown = heard.fact;
    if (!isMessage(fact) || OF_THE_RUN.test(fact.type)) return undefined;
    const isPlaced = Object.keys(fact).some((key) => PLACE.has(key));
    if (!isPlaced) return heard;
    return { type: "emit", fact: Object.fromEntries(Object.entries(fact).filter(([key]) => !PLACE.has(key))) as Fact };
  });
}

/**
 * The live text in a notification, and the task that it belongs to; `undefined` for anything else. Every login of the
 * database can send notifications, so nothing important is sent in them.
 */
export function heardLive(text: string): Readonly<{ key: string; message: FromTask }> | undefined {
  try {
    const [key, message] = parseJson(text, DEEPEST_RECORD) as readonly unknown[];
    if (typeof key !== "string" || !isMessage(message) || message.type !== "live") return undefined;
    const { delta } = message as Readonly<{ type: "live"; delta?: unknown }>;
    return isDelta(delta) ? { key, message: { type: "live", delta } } : undefined;
  } catch {
    return undefined;
  }
}

const isDelta = (value: unknown): value is Delta =>
  isRecord(value) &&
  typeof value["text"] === "string" &&
  (value["type"] === "text.delta" ||
    value["type"] === "thinking.delta" ||
    (value["type"] === "tool.delta" && typeof value["call"] === "string")) &&
  Object.keys(value).every((key) => !PLACE.has(key));
