/**
 * The same YAML with every line of an open `[` or `{` indented below its key. js-yaml refuses a closing bracket in
 * column 0; other parsers accept it. A bracket that is still open at the next key is left as it is.
 */
export function indentedFlows(yaml: string): string {
  if (!/[[{]/.test(yaml)) return yaml;
  const lines = yaml.split("\n");
  const out: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const block = BLOCK.exec(line);
    if (block) {
      const depth = block[1]!.length;
      out.push(line);
      while (at + 1 < lines.length && (lines[at + 1]!.trim() === "" || indentOf(lines[at + 1]!) > depth))
        out.push(lines[++at]!);
      continue;
    }
    const opened = FLOW.exec(line);
    const end = opened ? closingLine(lines, at, opened[1]!.length) : at;
    if (end === undefined || end === at) {
      out.push(line);
      continue;
    }
    const indent = " ".repeat(indentOf(line) + 2);
    out.push(
      line,
      ...lines.slice(at + 1, end + 1).map((each) => (each.trim() === "" ? each : indent + each.trimStart())),
    );
    at = end;
  }
  return out.join("\n");
}

const BLOCK = /^(\s*)(?:- )?[\w.-]+:[ \t]+[|>][-+\d]*\s*(?:#.*)?$/;
/** Matches a key or an item whose value begins with a bracket. */
const FLOW = /^(\s*(?:- )*(?:[\w.-]+:[ \t]+)?)[[{]/;
const KEY = /^[A-Za-z_][\w.-]*:(?:\s|$)/;

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** The line on which the bracket at this place closes; `undefined` when another key comes first, or the text ends. */
function closingLine(lines: readonly string[], from: number, column: number): number | undefined {
  let depth = 0;
  let quote = "";
  for (let at = from; at < lines.length; at++) {
    const line = lines[at]!;
    if (at > from && quote === "" && KEY.test(line)) return undefined;
    for (let index = at === from ? column : 0; index < line.length; index++) {
      const char = line[index]!;
      if (quote !== "") {
        if (char === "\\" && quote === '"') index++;
        else if (char === quote) quote = "";
      } else if (char === "#" && (index === 0 || /\s/.test(line[index - 1]!))) break;
      else if ((char === '"' || char === "'") && /[\s,[{:]/.test(line[index - 1] ?? " ")) quote = char;
      else if (char === "[" || char === "{") depth++;
      else if ((char === "]" || char === "}") && --depth === 0) return at;
    }
  }
  return undefined;
}
