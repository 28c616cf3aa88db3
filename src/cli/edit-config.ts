import { isMap, parseDocument } from "yaml";

/** YAML with one value set, or taken out (`undefined`); comments, order and everything else stay as they are. */
export function withSetting(text: string, path: readonly string[], value: unknown): string {
  const document = parseDocument(text);
  if (value === undefined) {
    document.deleteIn(path);
    for (let above = path.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
      const node = document.getIn(above);
      if (!isMap(node) || node.items.length > 0) break;
      document.deleteIn(above);
    }
    return isMap(document.contents) &&
      document.contents.items.length === 0 &&
      document.commentBefore === undefined &&
      !text.includes("#")
      ? ""
      : document.toString({ lineWidth: 0 });
  }
  document.setIn(path, value);
  return document.toString({ lineWidth: 0 });
}
