import type { Look } from "../../core/view/look.ts";
import type { Span, Style } from "../wrap.ts";
import type { Highlight } from "./options.ts";

/** Code beyond this size is shown without colours. */
const MOST_COLORED = 40_000;

/** Colours code in 37 common languages. The grammars are loaded at the first call, so the result is a promise. */
export async function createHighlight({ colors }: Look): Promise<Highlight> {
  const { common, createLowlight } = await import("lowlight");
  const lowlight = createLowlight(common);
  const styles: Readonly<Record<string, Style>> = {
    keyword: colors.magenta,
    built_in: colors.cyan,
    type: colors.cyan,
    title: colors.blue,
    "title.class": colors.cyan,
    string: colors.green,
    regexp: colors.green,
    number: colors.yellow,
    literal: colors.yellow,
    comment: colors.dim,
    meta: colors.dim,
    attr: colors.blue,
    tag: colors.magenta,
    name: colors.magenta,
    addition: colors.green,
    deletion: colors.red,
    section: colors.bold,
  };
  return (code, language) => {
    if (code.length > MOST_COLORED || language === "diff" || !lowlight.registered(language)) return undefined;
    const lines: Span[][] = [[]];
    const walk = (nodes: readonly Node[], style: Style | undefined): void => {
      for (const node of nodes) {
        if (node.type === "element") {
          walk(node.children ?? [], styleOf(node.properties?.["className"], styles) ?? style);
          continue;
        }
        const [first = "", ...more] = (node.value ?? "").split("\n");
        const span = (text: string): Span => (style ? { text, style } : { text });
        lines.at(-1)!.push(span(first));
        for (const text of more) lines.push([span(text)]);
      }
    };
    walk(lowlight.highlight(language, code).children, undefined);
    return lines;
  };
}

/** The part of a syntax tree that is used for colouring. */
type Node = Readonly<{
  type: string;
  value?: string;
  children?: readonly Node[];
  properties?: Readonly<Record<string, unknown>>;
}>;

function styleOf(names: unknown, styles: Readonly<Record<string, Style>>): Style | undefined {
  if (!Array.isArray(names)) return undefined;
  const [first = "", second = ""] = names.map((name) => String(name).replace(/^hljs-|_$/g, ""));
  return styles[`${first}.${second}`] ?? styles[first];
}
