import type { Event, KeptEvent, LiveEvent } from "../../core/run/event.ts";

/** Orders pieces of live text among the recorded events of their task. */
export type OrderedDeltas = Readonly<{
  /** To be called when an event was passed to the journal. */
  appended(path: string, seq: number): void;
  /** To be called when an event is safely stored. */
  kept(event: KeptEvent): void;
  live(event: LiveEvent): void;
}>;

/**
 * A recorded event is published once it is safely stored, a piece of live text at once. The first words of a turn could
 * therefore overtake the end of the previous turn, so live text waits until the earlier events of its task are
 * published.
 */
export function orderDeltas(publish: (event: Event) => void): OrderedDeltas {
  const last = new Map<string, number>();
  const waiting = new Map<string, { after: number; event: LiveEvent }[]>();
  return {
    appended: (path, seq) => void last.set(path, seq),
    kept: (event) => {
      publish(event);
      const { path, seq } = event;
      if ((last.get(path) ?? 0) <= seq) last.delete(path);
      const held = waiting.get(path);
      while (held?.[0] && held[0].after <= seq) publish(held.shift()!.event);
      if (held?.length === 0) waiting.delete(path);
    },
    live: (event) => {
      const after = last.get(event.path);
      if (after === undefined) return publish(event);
      const held = waiting.get(event.path);
      if (held) held.push({ after, event });
      else waiting.set(event.path, [{ after, event }]);
    },
  };
}
