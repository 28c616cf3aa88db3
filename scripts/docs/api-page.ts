import { posix } from "node:path";

type Read = (file: string) => string;

const doors: readonly (readonly [name: string, file: string, what: string])[] = [
  ["subcrew", "src/index.ts", "The library itself."],
  [
    "subcrew/testing",
    "src/doors/testing.ts",
    "A scripted model and a model provider on this machine, for your own tests.",
  ],
  [
    "subcrew/schemas",
    "src/doors/schemas.ts",
    "JSON Schemas of files, events and results; `subcrew/schemas/NAME.json` are the same as files.",
  ],
  ["subcrew/agents", "src/doors/agents.ts", "Finding and reading agent files without running them."],
  ["subcrew/mcp", "src/doors/mcp.ts", "The MCP server, inside of your program."],
  ["subcrew/a2a", "src/doors/a2a.ts", "The A2A server and client."],
  ["subcrew/parallel", "src/doors/parallel.ts", "Functions of the parallel agents tool."],
  ["subcrew/gemini", "src/doors/gemini.ts", "Definitions and registry as Gemini CLI has them."],
];

/** docs/api.md: every exported name with its comment and declaration, from the sources. */
export function apiPage(read: Read): string {
  return [
    "# API reference",
    "",
    "<!-- Made by `npm run docs` from the sources. Edit the comments there. -->",
    "",
    "Every name that the package exports, with its contract. The [library guide](library.md) explains how they work together.",
    "",
    ...doors.flatMap(([name, file, what]) => [`## ${name}`, "", what, "", ...exportsOf(file, read)]),
  ].join("\n");
}

function exportsOf(door: string, read: Read): string[] {
  const source = read(door);
  const passed = [...source.matchAll(/export (?:type )?\{([^}]*)\} from "([^"]+)"/g)].flatMap(
    ([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => name.trim().replace(/^type /, ""))
        .filter(Boolean)
        .map((name) => ({ name, file: posix.join(posix.dirname(door), from) })),
  );
  const own = [...source.matchAll(/^export (?:async )?(?:function\*?|const|class|type) (\w+)/gm)].map(
    ([, name = ""]) => ({
      name,
      file: door,
    }),
  );
  return [...passed, ...own].flatMap(({ name, file }) => {
    const [inner = name, outer = inner] = name.split(" as ");
    return entry(inner, outer, read(file));
  });
}

function entry(inner: string, outer: string, source: string): string[] {
  const at = new RegExp(
    `^export (?:declare )?(?:async )?(?:function\\*?|const|class|type|interface) ${inner}\\b`,
    "m",
  ).exec(source);
  if (!at) return [`### ${outer}`, ""];
  const comment = /\/\*\*((?:(?!\*\/).)*)\*\/\s*$/s.exec(source.slice(0, at.index))?.[1] ?? "";
  const said = comment.replaceAll(/^\s*\* ?/gm, "").trim();
  return [
    `### ${outer}`,
    "",
    ...(said === "" ? [] : [said, ""]),
    "<!-- declaration -->",
    "```ts",
    ...schemasOf(source.slice(at.index), source),
    declaration(source.slice(at.index)),
    "```",
    "",
  ];
}

const MOST_LINES = 60;

/** The schema that a type is inferred from, as it stands in the same file. */
function schemasOf(text: string, source: string): string[] {
  const [, name] = /^export type [^;]*\bz\.infer<typeof (\w+)>/.exec(text) ?? [];
  const at = name === undefined ? -1 : source.search(new RegExp(`^(?:export )?const ${name}\\b`, "m"));
  if (at < 0) return [];
  const lines = source.slice(at).split("\n");
  const end = lines.findIndex((line) => /^\S.*;$/.test(line));
  return [
    lines
      .slice(0, end + 1)
      .join("\n")
      .replace(/^export /, ""),
    "",
  ];
}

/** The declaration without the body of a function. */
function declaration(text: string): string {
  const lines = text.split("\n");
  if (/^export (?:async )?function/.test(text)) {
    const end = lines.findIndex((line) => line.endsWith(" {"));
    return [...lines.slice(0, end), lines[end]?.replace(/ \{$/, ";")].join("\n").replace(/^export /, "");
  }
  if (text.startsWith("export class")) return classDeclaration(lines);
  const end = lines.findIndex((line, index) =>
    index === 0 ? line.endsWith(";") : /^\S/.test(line) && line.endsWith(";"),
  );
  const all = lines.slice(0, end + 1);
  if (text.startsWith("export const")) return (all[0] ?? "").replace(/^export /, "").replace(/ =.*$/, ";");
  return (all.length > MOST_LINES ? [...all.slice(0, MOST_LINES), "  // ..."] : all).join("\n").replace(/^export /, "");
}

/** The public members of a class: their comments and signatures. */
function classDeclaration(lines: readonly string[]): string {
  const body = lines.slice(1, lines.indexOf("}")).join("\n");
  const members = body.matchAll(
    /((?: {2}\/\*\*(?:(?!\*\/).)*\*\/\n)?)^ {2}(?!#|\*#|readonly #|async #|async \*#|constructor|\/\/|\/\*| |\})(.*?)(?:;| \{)$/gms,
  );
  const kept = Array.from(
    members,
    ([, comment = "", signature = ""]) => `${comment}  ${signature.replace(/^async (?=\w)/, "")};`,
  );
  return [(lines[0] ?? "").replace(/^export /, ""), ...kept, "}"].join("\n");
}
