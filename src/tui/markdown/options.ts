import type { Look } from "../../core/view/look.ts";
import type { Span } from "../wrap.ts";

/** Colours the lines of a program; `undefined` for a language that is not known. */
export type Highlight = (code: string, language: string) => readonly (readonly Span[])[] | undefined;

/** How Markdown is drawn. Without `highlight`, code is shown as it is. */
export type MarkdownOptions = Readonly<{ look: Look; columns: number; highlight?: Highlight | undefined }>;
