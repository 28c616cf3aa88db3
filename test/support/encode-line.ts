import type { KeptEvent } from "../../src/core/run/event.ts";
import { decodeBytes, encodeLines } from "../../src/runtime/store/journal-line.ts";

/** One record of a journal, as text. */
export const encodeLine = (event: KeptEvent, epoch: number): string => encodeLines([event], epoch).toString();

/** The record in a line of text, if it is complete. */
export const decodeLine = (line: string): ReturnType<typeof decodeBytes> => decodeBytes(Buffer.from(line));
