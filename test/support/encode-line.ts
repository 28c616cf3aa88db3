import type { KeptEvent } from "../../src/core/run/event.ts";
import { encodeLines } from "../../src/runtime/store/journal-line.ts";

/** One record of a journal, as text. */
export const encodeLine = (event: KeptEvent, epoch: number): string => encodeLines([event], epoch).toString();
