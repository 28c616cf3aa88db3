import { agentFamilies } from "../../src/runtime/discovery/sources.ts";

/** The description of each function that reads a key; its argument is the name of the agent's field. */
const meanings: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^kept\(\)/, () => "kept, no effect"],
  [
    /^kept\(\s*"(.*)",?\s*\)/s,
    ([, why = ""]) =>
      `kept, no effect${why.startsWith("has no effect") ? why.replace(/^has no effect(?: here)?/, "") : `: ${why}`}`,
  ],
  [/^note$/, () => "a note, no effect"],
  [/^(?:text|number|span|flag|choice|list)\("(\w+)"/, ([, field]) => `\`${field}\``],
  [
    /^limit\("(\w+)"(?:, ([\d_]+))?/,
    ([, field, factor]) =>
      `\`limits.${field}\`${factor === "60_000" ? ", in minutes" : factor === "1_000" ? ", in seconds" : ""}`,
  ],
  [/^(tools|disallowedTools|projectInstructions)\(/, ([, field]) => `\`${field}\``],
  [/^switchedOff\((\w+)\)/, ([, when]) => `disables the agent when ${when}`],
  [/^readPermission$/, () => "`permission`: never more than you allow"],
  [/^readonlyFlag$/, () => "takes away tools that change something"],
  [/^readThinking$/, () => "`thinking`"],
  [/^readSkills$/, () => "`skills`"],
  [/^servers$/, () => "`mcpServers`"],
  [/^(\w+)$/, ([, field]) => `\`${field}\``],
];

/** The keys of agent files, one table per file format, from the tables that the parsers use. */
export function fieldsTables(read: (file: string) => string): string {
  const dialects = [...new Set(agentFamilies.flat().map(({ dialect }) => dialect))];
  return dialects
    .flatMap((dialect) => {
      const rows = rowsOf(read(`src/formats/dialects/${dialect}.ts`));
      const families = agentFamilies
        .flat()
        .filter((row) => row.dialect === dialect)
        .map(({ family }) => family);
      if (rows.length === 0) return [];
      return [
        `#### ${dialect}`,
        "",
        `Files of: ${[...new Set(families)].join(", ")}.`,
        "",
        "| key | becomes |",
        "|---|---|",
        ...rows.map(([key, meaning]) => `| \`${key}\` | ${meaning.replaceAll("|", "\\|")} |`),
        "",
      ];
    })
    .join("\n");
}

function rowsOf(source: string): (readonly [string, string])[] {
  const begin = /defineFields\(\s*\{\n/.exec(source);
  if (!begin) return [];
  const text = source.slice(begin.index + begin[0].length);
  const indent = /^ */.exec(text)?.[0] ?? "";
  const body = text.split(new RegExp(`^ {0,${indent.length - 2}}\\}`, "m"))[0] ?? "";
  const rows = body.matchAll(new RegExp(`^${indent}(?:"([^"]+)"|(\\w+))(?:: (.+?))?,?$`, "gm"));
  return Array.from(rows, ([, quoted, plain = "", reader]) => {
    const key = quoted ?? plain;
    return [key, meaningOf((reader ?? key).trim())] as const;
  });
}

function meaningOf(reader: string): string {
  for (const [pattern, say] of meanings) {
    const match = pattern.exec(reader);
    if (match) return say(match);
  }
  return "read in a form of its own";
}
