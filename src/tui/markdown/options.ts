import type { Look } from "../../core/view/look.ts";
import type { Span } from "../wrap.ts";

/** Colours lines of code; `undefined` for an unknown language. */
export type Highlight = (code: string, language: string) => readonly (readonly Span[])[] | undefined;

/** The options for formatting Markdown. Without `highlight`, code is not coloured. */
export type MarkdownOptions = Readonly<{ look: Look; columns: number; highlight?: Highlight | undefined }>;
