import type { FilePlace, ParsedFile } from "../../core/agent/dialect.ts";
import { AGENT_NAME, nameFault } from "../../core/vocabulary/agent-name.ts";
import { defined } from "../../core/text/defined.ts";
import { mixedWord } from "../../core/text/name-characters.ts";
import { hasError } from "../../core/vocabulary/file-problem.ts";
import { DELEGATION_TOOL, READ_ONLY_TOOLS } from "../../core/vocabulary/tool-names.ts";
import type { Data, Recovery } from "../yaml/frontmatter.ts";
import { addProblem, type Draft, toReadAgent } from "./draft.ts";
import { lookOnly, REPAIR } from "./look-only.ts";

/** The defaults and checks of a file format that apply after all keys were read. */
export type DialectDefaults = Readonly<{
  place: FilePlace;
  raw: Data;
  body: string;
  recovered?: Recovery | undefined;
  /** The agent's name if no key gives a name. */
  defaultName?: string | undefined;
  nameRule?: RegExp | undefined;
  /**
   * True: a name with spaces or other special characters is converted to a name that can be typed, and kept as the
   * display name.
   */
  freeName?: boolean;
  description?: "required" | "optional";
}>;

/** Completes the agent with its prompt, its name and the checks that all formats share. */
export function finish(draft: Draft, options: DialectDefaults): ParsedFile {
  const { agent, from } = draft;
  if (agent.instructions === undefined) {
    agent.instructions = options.body;
    from["instructions"] = BODY;
  } else if (options.body !== "") {
    agent.documentation ??= options.body;
    from["documentation"] ??= BODY;
  }
  settleName(draft, options);
  settleDescription(draft, options);
  settleRights(draft, options);
  if (hasError(draft.problems)) return { agents: [], problems: draft.problems };
  const { source } = options.place;
  if (source !== undefined)
    agent.source = options.recovered ? { ...source, ...defined({ reduced: reducedBy(draft) }) } : source;
  Object.freeze(agent);
  return { agents: [toReadAgent(draft, options.raw, options.recovered !== undefined)], problems: draft.problems };
}

/** The message of the problem because of which the agent of a repaired file has fewer tools. */
const reducedBy = ({ problems }: Draft): string | undefined =>
  problems.find(({ code }) => code === "read-only" || code === "no-tools")?.message;

/** The origin that is shown for a prompt that is the body of the file. */
export const BODY = "(body)";
export const FILE_NAME = "(file name)";

/** The file's name without its extensions. */
export const stemOf = (file: string): string =>
  file.slice(file.lastIndexOf("/") + 1).replace(/(?:\.agent)?\.[^.]+$/, "");

function settleName(draft: Draft, { defaultName, nameRule = AGENT_NAME, freeName = false }: DialectDefaults): void {
  const { agent, from } = draft;
  if (agent.name === undefined && defaultName !== undefined) {
    agent.name = defaultName;
    from["name"] = FILE_NAME;
  }
  if (agent.name === undefined)
    return addProblem(draft, "missing-name", 'The agent has no "name".', { hint: "Add a name." });
  if (/[^ -~]/.test(agent.name)) agent.name = agent.name.normalize("NFC");
  // a text with a comma is a list of names, and `__proto__` cannot be a name
  const isRefused = agent.name.includes(",") || agent.name === "__proto__";
  if (freeName && !isRefused && nameFault(agent.name, nameRule) === "bad-name") rename(draft, agent.name);
  const fault = nameFault(agent.name, nameRule);
  // Many programs write dashes for the blanks in a name when they refer to it.
  if (agent.name.includes(" ")) draft.aliases = [...(draft.aliases ?? []), agent.name.replaceAll(" ", "-")];
  const mixed = mixedWord(agent.name);
  if (mixed !== undefined)
    addProblem(draft, "mixed-scripts", `"${mixed}" in the name mixes letters of several scripts that look alike.`, {
      field: "name",
      hint: "Use letters of one script, so that the agent cannot be confused with another agent.",
    });
  if (fault === "bad-name") {
    addProblem(draft, fault, `"${agent.name.slice(0, 80)}" cannot be the name of an agent.`, {
      field: "name",
      hint: "Use letters, digits, inner blanks and _ . : -, at most 64.",
    });
  }
  if (fault === "reserved-name") addProblem(draft, fault, `"${agent.name}" is a reserved name.`, { field: "name" });
}

/** Reduces a name to the allowed characters, and adds a hash so that it stays unique. */
function rename(draft: Draft, written: string): void {
  const folded = written.normalize("NFKD").replace(/\p{M}+/gu, "");
  const slug = folded.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "");
  const lost = /[^\P{L}A-Za-z]/u.test(folded);
  const name = lost ? [slug.slice(0, 55) || "agent", fingerprint(written)].join("-") : slug.slice(0, 64);
  if (!AGENT_NAME.test(name)) return;
  draft.agent.name = name;
  draft.agent.displayName ??= written;
  draft.aliases = [...(draft.aliases ?? []), written];
  addProblem(
    draft,
    "bad-name",
    `"${written.slice(0, 80)}" cannot be used as a name in subcrew; the agent is called "${name}" here.`,
    {
      field: "name",
      severity: "warning",
    },
  );
}

/** A short hash of a text, the same on every machine. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36).padStart(7, "0");
}

function settleDescription(draft: Draft, { description = "required" }: DialectDefaults): void {
  const written = draft.agent.description?.trim();
  if (written !== undefined && written !== "") {
    draft.agent.description = written;
    return;
  }
  draft.agent.description = "";
  const message = "The agent has no description; models choose agents by their description.";
  addProblem(draft, "missing-description", message, description === "required" ? {} : { severity: "warning" });
}

/**
 * Completes the permissions of the agent after all keys were read. A file that may have lost a line and names no tools
 * gets the read-only tools; an agent that lists a delegation tool may start every agent.
 */
function settleRights(draft: Draft, { recovered }: DialectDefaults): void {
  const { agent, from } = draft;
  if (recovered === "lossy" && agent.tools === undefined) {
    agent.tools = READ_ONLY_TOOLS;
    from["tools"] = REPAIR;
    addProblem(
      draft,
      "read-only",
      "The YAML of the file was repaired, but its list of tools could not be read; the agent is read-only.",
    );
  }
  if (agent.permission === "plan") lookOnly(draft);
  if (agent.delegation?.every((name) => name === DELEGATION_TOOL)) delete agent.delegation;
  if (agent.spawns === undefined && agent.tools?.includes(DELEGATION_TOOL)) {
    agent.spawns = "*";
    from["spawns"] = from["tools"] ?? REPAIR;
  }
}
