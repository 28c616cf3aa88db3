import { EVENT_ID, type Event, getScalarValue, parseEvents } from "js-yaml";
import { YAML_LIMITS } from "./yaml.ts";

/** The line, counted from 1, of the value at a path; if the path goes too deep, of its last existing step. */
export function yamlLineAt(text: string, path: readonly string[]): number | undefined {
  try {
    const events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
    const found = placeOf({ text, events, at: 1 }, path);
    return found === undefined ? undefined : text.slice(0, found).split("\n").length;
  } catch {
    return undefined; // a position cannot be found in text that cannot be parsed
  }
}

type Reader = { readonly text: string; readonly events: readonly Event[]; at: number };

/** The position of the value at a path; the reader is at the node that contains the value. */
function placeOf(reader: Reader, [step, ...rest]: readonly string[]): number | undefined {
  const { text, events } = reader;
  const node = events[reader.at];
  if (step === undefined || node === undefined) return undefined;
  if (node.type !== EVENT_ID.MAPPING && node.type !== EVENT_ID.SEQUENCE) return undefined;
  reader.at += 1;
  for (let index = 0; events[reader.at] !== undefined && events[reader.at]!.type !== EVENT_ID.POP; index++) {
    const first = events[reader.at]!;
    const start = startOf(reader);
    if (node.type === EVENT_ID.MAPPING) skip(reader);
    const key = node.type === EVENT_ID.SEQUENCE ? String(index) : scalarOf(text, first);
    if (key === step) return placeOf(reader, rest) ?? start;
    skip(reader);
  }
  return undefined;
}

const scalarOf = (text: string, event: Event): string | undefined =>
  event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : undefined;

/** The position of the first scalar at or in the node. */
function startOf({ events, at }: Reader): number | undefined {
  for (let next = at; next < events.length; next++) {
    const event = events[next]!;
    if (event.type === EVENT_ID.SCALAR) return event.valueStart;
    if (event.type === EVENT_ID.POP) return undefined;
  }
  return undefined;
}

/** Skips the node at the reader's position. */
function skip(reader: Reader): void {
  let depth = 0;
  do {
    const event = reader.events[reader.at];
    if (event === undefined) return;
    if (event.type === EVENT_ID.POP) depth -= 1;
    else if (event.type !== EVENT_ID.SCALAR && event.type !== EVENT_ID.ALIAS) depth += 1;
    reader.at += 1;
  } while (depth > 0);
}
