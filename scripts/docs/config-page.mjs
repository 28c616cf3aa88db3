// @ts-check
/** @typedef {import("../../src/runtime/discovery/sources.ts").Row} Row */
/** @typedef {import("../../src/core/config/variables.ts").ConfigVariable} ConfigVariable */
/** @typedef {Record<string, any>} Schema */

/**
 * docs/config.md, made from the schema of the settings.
 *
 * @param {{ schema: Schema, variables: readonly ConfigVariable[], isProjects: (path: readonly string[]) => boolean }} given
 * @returns {string}
 */
export function configPage({ schema, variables, isProjects }) {
  const rows = leaves(schema, []).map(({ path, type, description }) => {
    const variable =
      path.at(-1) === "EVENT"
        ? "SUBCREW_ON_EVENT"
        : variables.find((one) => one.path.join(".") === path.join("."))?.name;
    const project = isProjects(path) ? "yes" : "";
    const key = path.join(".").replace(/^(agents|providers|mcpServers)\.\*/, "$1.NAME");
    return `| \`${key}\` | ${type} | ${variable === undefined ? "" : `\`${variable}\``} | ${project} | ${description} |`;
  });
  return `${CONFIG_BEGIN}
| key | value | variable | project | what it is |
|---|---|---|---|---|
${rows.join("\n")}
${CONFIG_END}`;
}

const CONFIG_BEGIN = `# Settings

<!-- Made by \`npm run docs\` from src/core/config/config.ts. Edit that. -->

Settings are YAML. They are read from these places, the strongest first:

1. flags of the command
2. variables: \`SUBCREW_\` and the key in capitals, as in \`SUBCREW_LIMITS_MAX_TURNS=20\`; lists with commas
3. \`.subcrew/config.yaml\` of the project, once it is trusted (\`subcrew trust\`). It can only take away: the keys marked
   *project* below, and of those only what is narrower than your own. Anything else in it is left out, with a warning
4. \`config.yaml\` in \`$SUBCREW_HOME\`, which is \`~/.subcrew\` by default: your own
5. the preset, then the defaults

A file that cannot be read, a key that does not exist or a value that does not fit is an error that names the file and the
line; nothing runs before it is corrected. A file may name its version (\`version: 1\`); one of a newer version is refused. \`subcrew config list\` shows the settings in effect and where each was made.
\`config list\` and \`config get\` print \`(hidden)\` in place of keys, tokens, passwords, headers, variables of MCP servers and passwords in addresses, also with
\`--json\`. A single value that you name is printed as it is: \`subcrew config get providers.NAME.apiKey\`.
\`subcrew config set KEY VALUE\`, \`unset\` and \`edit\` change your own file (or the project's with \`--project\`) and keep its comments.
\`subcrew doctor\` checks the settings together with keys, models, sandbox and state folder.
\`subcrew agents enable\` and \`disable\` change your own file and leave everything
else in it as it is. In the library, \`createCrew({ config: true })\` reads the same, \`createCrew({ config: { ... } })\` takes the
same keys, and without \`config\` no file is read.

\`\`\`yaml
model: [balanced, offline]     # the first that is available
concurrency: 4
limits: { maxTurns: 60 }       # no agent gets more
defaults:
  limits: { maxDurationMs: 600000 }
agents:
  explore: { model: fast }
  designer: { enabled: false }
permissions:
  allow: ["bash(git log *)"]
  deny: ["bash(git push *)"]
\`\`\`

## Keys
`;

const CONFIG_END = `
\`agents.NAME\` holds for every agent of that name, wherever its file lies. Its \`tools\` stand in place of the file's list in your
own settings, and bound it in a project's; \`disallowedTools\` are taken away besides those of the file; \`limits\` replace the
file's in your own settings, and only lower them in a project's. \`subcrew agents explain NAME\` says which line decided what.
`;

/**
 * @param {Schema} schema
 * @param {readonly string[]} path
 * @returns {{ path: readonly string[], type: string, description: string }[]}
 */
function leaves(schema, path) {
  const inner = Object.values(schema["properties"] ?? {}).map(typeOf);
  // Many keys of one type, described together, are one row: `on.EVENT`.
  if (inner.length > 20 && new Set(inner).size === 1)
    return [{ path: [...path, "EVENT"], type: String(inner[0]), description: escaped(schema["description"] ?? "") }];
  if (schema["properties"] !== undefined)
    return Object.entries(schema["properties"]).flatMap(([key, inner]) => leaves(inner, [...path, key]));
  if (typeof schema["additionalProperties"] === "object" && schema["additionalProperties"]["properties"] !== undefined)
    return leaves(schema["additionalProperties"], [...path, "*"]);
  return [{ path, type: typeOf(schema), description: escaped(schema["description"] ?? "") }];
}

/**
 * @param {Schema} schema
 * @returns {string}
 */
function typeOf(schema) {
  if (Array.isArray(schema["enum"])) return schema["enum"].map((word) => `\`${word}\``).join(", ");
  if (Array.isArray(schema["anyOf"])) return [...new Set(schema["anyOf"].map(typeOf))].join(", or ");
  if (schema["type"] === "array") return `list of ${typeOf(schema["items"] ?? {})}s`;
  if (schema["type"] === "object") return "object";
  /** @type {Record<string, string>} */
  const words = { string: "text", number: "number", integer: "whole number", boolean: "true or false" };
  return words[String(schema["type"])] ?? "any";
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("|", "\\|");

/**
 * The table of locations in docs/agents.md, from the data that the search for agents uses.
 *
 * @param {readonly (readonly Row[])[]} families
 * @returns {string}
 */
export function sourcesTable(families) {
  /** @param {readonly string[]} places @param {string} before */
  const listed = (places, before) => places.map((place) => `\`${before}${place}\``).join(" ") || "-";
  const rows = families.flatMap((family, index) =>
    family.map(
      ({ family: name, dialect, project, user }) =>
        `| ${index + 1} | ${name} | ${dialect} | ${listed(project, "")} | ${listed(user, "~/")} |`,
    ),
  );
  const last = families.length;
  return [
    "| | family | dialect | in the project | in the home folder |",
    "|---|---|---|---|---|",
    ...rows,
    `| ${last + 1} | plugins | claude | those of the project, then | those of the user |`,
    `| ${last + 2} | bundled | own | built in | |`,
  ].join("\n");
}

/**
 * Replaces the text between the two marks with this name.
 *
 * @param {string} text
 * @param {string} name
 * @param {string} content
 * @returns {string}
 */
export function withGenerated(text, name, content) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, until] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || until === -1) throw new Error(`the marks ${begin} and ${end} are missing`);
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(until)}`;
}
