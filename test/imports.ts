/** One import, re-export or `import()` of a source file. */
export type Import = {
  readonly specifier: string;
  readonly kind: "static" | "type" | "dynamic";
  /** The text between the keyword and `from`. */
  readonly clause: string;
};

/** A source file in the form that the rules need. */
export type Source = {
  /** The code without comments, with each string replaced by its number in quotes; template expressions are kept. */
  readonly code: string;
  /** The strings, by their numbers. */
  readonly strings: readonly string[];
  readonly imports: readonly Import[];
};

/**
 * Parses a source file without a full parser: comments and strings first, then the few statements that import
 * something.
 */
export function scan(text: string): Source {
  const { code, strings } = mask(text);
  return { code, strings, imports: importsIn(code, strings) };
}

function importsIn(code: string, strings: readonly string[]): Import[] {
  const found: Import[] = [];
  const add = (kind: Import["kind"], index: string | undefined, clause = ""): void => {
    found.push({ kind, specifier: strings[Number(index)] ?? "", clause: clause.trim() });
  };
  for (const [, clause = "", index] of code.matchAll(/\b(?:import|export)\b([^;"'()=]*?)\bfrom\s*"(\d+)"/g)) {
    add(/^\s*type\b(?!\s*from\b)/.test(clause) ? "type" : "static", index, clause);
  }
  for (const [, index] of code.matchAll(/(?<![.\w$])import\s*"(\d+)"/g)) add("static", index);
  for (const [, index] of code.matchAll(/(?<![.\w$])(?:import|require)\s*\(\s*"(\d+)"/g)) add("dynamic", index);
  return found;
}

/** After these characters a slash begins a regular expression; elsewhere it is a division. */
const beforeRegExp =
  /(?:^|[(,=:[!&|?{};+\-*%~^>]|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw))$/;

function mask(text: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  /** The number of open braces in each template expression that is being read. */
  const templates: number[] = [];
  let code = "";
  let at = 0;

  const string = (value: string): void => {
    code += `"${strings.length}"`;
    strings.push(value);
  };
  /** Reads template text from `at` up to its end or the next expression. */
  const template = (): void => {
    const start = at;
    while (at < text.length && text[at] !== "`" && !text.startsWith("${", at)) at += text[at] === "\\" ? 2 : 1;
    string(text.slice(start, at));
    if (text[at] === "`") {
      at += 1;
    } else if (at < text.length) {
      at += 2;
      code += "+(";
      templates.push(0);
    }
  };

  while (at < text.length) {
    const char = text[at]!;
    if (text.startsWith("//", at) || (at === 0 && text.startsWith("#!"))) {
      at = endOf(text, "\n", at);
    } else if (text.startsWith("/*", at)) {
      at = endOf(text, "*/", at + 2) + 2;
      code += " ";
    } else if (char === '"' || char === "'") {
      const [value, end] = quoted(text, at);
      at = end;
      string(value);
    } else if (char === "`") {
      at += 1;
      template();
    } else if (char === "}" && templates.at(-1) === 0) {
      templates.pop();
      code += ")+";
      at += 1;
      template();
    } else if (char === "/" && beforeRegExp.test(code.slice(-12).trimEnd())) {
      at = afterRegExp(text, at);
      code += "/re/";
    } else {
      if (templates.length > 0 && char === "{") templates.push(templates.pop()! + 1);
      if (templates.length > 0 && char === "}") templates.push(templates.pop()! - 1);
      code += char;
      at += 1;
    }
  }
  return { code, strings };
}

/** The text of a quoted string and its end; an unclosed one (an apostrophe in JSX) ends with its line. */
function quoted(text: string, start: number): [value: string, end: number] {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start] && text[at] !== "\n") at += text[at] === "\\" ? 2 : 1;
  return [text.slice(start + 1, at), at + 1];
}

function afterRegExp(text: string, start: number): number {
  let inClass = false;
  let at = start + 1;
  for (; at < text.length && text[at] !== "\n"; at += text[at] === "\\" ? 2 : 1) {
    if (text[at] === "[") inClass = true;
    if (text[at] === "]") inClass = false;
    if (text[at] === "/" && !inClass) return at + 1;
  }
  return at;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}
