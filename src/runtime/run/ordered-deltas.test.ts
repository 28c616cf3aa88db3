import { expect, test } from "vitest";
import type { Event, KeptEvent, LiveEvent } from "../../core/run/event.ts";
import { orderDeltas } from "./ordered-deltas.ts";

test("deltas of a turn follow the end of the previous turn, and deltas of other tasks do not wait", () => {
  const seen: string[] = [];
  const order = orderDeltas((event: Event) =>
    seen.push("seq" in event ? `${event.path} ${event.type}` : `${event.path} ${"text" in event ? event.text : ""}`),
  );
  const kept = (path: string, seq: number, type: string): void => order.kept({ path, seq, type } as KeptEvent);
  const live = (path: string, text: string): void => order.live({ path, type: "text.delta", text } as LiveEvent);

  live("a", "one");
  order.appended("a", 1);
  order.appended("a", 2);
  live("a", "two");
  live("b", "other");
  order.appended("a", 3);
  kept("a", 1, "turn.ended");
  live("a", "four");
  kept("a", 2, "turn.started");
  kept("a", 3, "note");
  live("a", "five");

  expect(seen).toEqual(["a one", "b other", "a turn.ended", "a turn.started", "a two", "a note", "a four", "a five"]);
});
