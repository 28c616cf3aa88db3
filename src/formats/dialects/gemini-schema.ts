import { canonicalName, toolsNamed } from "../../core/vocabulary/tool-names.ts";
import { isRecord } from "../../core/text/json.ts";
import { listOf } from "../fields/lists.ts";
import type { Data } from "../yaml/frontmatter.ts";
import { asData, readJson } from "../yaml/json.ts";

/**
 * A mistake in a definition. `type`: the definition is not of the tried kind (local or remote) at all. `value`: it is
 * of that kind, but a value is invalid. Both kinds are tried, and the more helpful mistake is shown.
 */
export type Issue = Readonly<{ path: string; message: string; weight: "type" | "value" }>;

type Check = (value: unknown, path: string) => readonly Issue[];
type Shape = Readonly<Record<string, Check>>;

/** True for tool names that Gemini CLI accepts in a list, and for subcrew's aliases. */
export function isValidToolName(
  name: string,
  { allowWildcards = false }: { readonly allowWildcards?: boolean } = {},
): boolean {
  if (name.includes("*"))
    return allowWildcards && /^(?:\*|mcp_\*|mcp_[\w.-]+_\*|[A-Za-z0-9][A-Za-z0-9.-]*__\*)$/.test(name);
  return name.startsWith("discovered_tool_") || toolsNamed(name).length > 0;
}

const required =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? [type(path, "Required")] : check(value, path);
const optional =
  (check: Check): Check =>
  (value, path) =>
    value === undefined ? [] : check(value, path);

const string: Check = (value, path) => (typeof value === "string" ? [] : [type(path, expected("string", value))]);
const nonEmpty: Check = (value, path) =>
  value === "" ? [wrong(path, "String must contain at least 1 character(s)")] : string(value, path);
const slug: Check = (value, path) => {
  const issues = string(value, path);
  return issues.length > 0 || /^[a-z0-9-_]+$/.test(value as string)
    ? issues
    : [wrong(path, "Name must be a valid slug")];
};
const number: Check = (value, path) => (typeOf(value) === "number" ? [] : [type(path, expected("number", value))]);
const positive: Check = (value, path) => {
  const issues = number(value, path);
  return issues.length > 0 || (value as number) > 0 ? issues : [wrong(path, "Number must be greater than 0")];
};
const positiveInt: Check = (value, path) => {
  if (typeOf(value) === "number" && !Number.isInteger(value)) return [wrong(path, "Expected integer, received float")];
  return positive(value, path);
};
const record: Check = (value, path) => (typeOf(value) === "object" ? [] : [type(path, expected("object", value))]);
const url: Check = (value, path) => {
  const issues = string(value, path);
  return issues.length > 0 || URL.canParse(value as string) ? issues : [wrong(path, "Invalid url")];
};
const literal =
  (word: string): Check =>
  (value, path) =>
    value === word ? [] : [type(path, `Invalid literal value, expected "${word}"`)];
const toolList: Check = (value, path) => {
  if (Array.isArray(value) && value.every((item) => typeof item === "string" && canonicalName(item) !== undefined))
    return [];
  const list = listOf(value);
  if (list === undefined) return [type(path, expected("array", value))];
  const isTool = (name: string): boolean => isValidToolName(name, { allowWildcards: true });
  const items: readonly unknown[] = Array.isArray(value) ? value : list;
  return items.flatMap((item, index) => {
    const issues = string(item, `${path}.${index}`);
    if (issues.length > 0) return issues;
    const names = listOf(item) ?? [];
    return names.length > 0 && names.every(isTool) ? [] : [wrong(`${path}.${index}`, "Invalid tool name")];
  });
};

const cardJson: Check = (value, path) => {
  const issues = string(value, path);
  if (issues.length > 0) return issues;
  return isObjectText(value as string) ? [] : [wrong(path, "Invalid JSON: the card has to be one JSON object")];
};

function isObjectText(text: string): boolean {
  const read = readJson(text);
  return read.ok && asData(read.value) !== undefined;
}

/** The required fields of each kind of credentials, and which of them are addresses. */
const credentialKinds: Readonly<Record<string, (auth: Data) => Shape>> = {
  apiKey: () => ({ key: required(nonEmpty) }),
  http: ({ scheme, value }): Shape => {
    const kind = typeof scheme === "string" ? scheme.toLowerCase() : "";
    const own: Shape =
      value !== undefined
        ? { value: nonEmpty }
        : kind === "basic"
          ? { username: required(nonEmpty), password: required(nonEmpty) }
          : kind === "bearer"
            ? { token: required(nonEmpty) }
            : {};
    return { scheme: required(nonEmpty), ...own };
  },
  bearer: () => ({ token: required(nonEmpty) }),
  basic: () => ({ username: required(nonEmpty), password: required(nonEmpty) }),
  oauth: () => oauth,
  oauth2: () => oauth,
  "google-credentials": () => ({}),
};

const oauth: Shape = { authorization_url: optional(url), token_url: optional(url) };

const credentials: Check = (value, path) => {
  const issues = record(value, path);
  if (issues.length > 0) return issues;
  const auth = value as Data;
  const kind = auth["type"];
  if (typeof kind !== "string" || !Object.hasOwn(credentialKinds, kind))
    return [wrong(`${path}.type`, `Expected one of ${Object.keys(credentialKinds).join(", ")}`)];
  const shape = credentialKinds[kind]!(auth);
  return Object.entries(shape).flatMap(([key, check]) =>
    check(Object.hasOwn(auth, key) ? auth[key] : undefined, `${path}.${key}`).map((issue) => ({
      ...issue,
      weight: "value" as const,
    })),
  );
};

/**
 * The keys of a local agent, including those in Gemini CLI's documentation, and `mcpServers` in both of its spellings.
 */
const local: Shape = {
  kind: optional(literal("local")),
  name: required(slug),
  description: required(nonEmpty),
  display_name: optional(string),
  tools: optional(toolList),
  mcp_servers: optional(record),
  mcpServers: optional(record),
  system_prompt: optional(string),
  model: optional(string),
  temperature: optional(number),
  max_turns: optional(positiveInt),
  timeout_mins: optional(positive),
};

const remote: Shape = {
  kind: optional(literal("remote")),
  name: required(slug),
  description: optional(string),
  display_name: optional(string),
  agent_card_url: required(url),
  agent_card_json: optional(cardJson),
  auth: optional(credentials),
};

const givenTwice: Check = (value, path) =>
  value === undefined ? [] : [wrong(path, "Only one of agent_card_url and agent_card_json can be given")];

/** The keys of a remote agent. An agent card inside of the file replaces its address, so both together are an error. */
const shapeOfRemote = (data: Data): Shape =>
  data["agent_card_json"] === undefined ? remote : { ...remote, agent_card_url: givenTwice };

export type DefinitionKind =
  | { readonly kind: "local" | "remote" }
  | {
      readonly error: string;
      /** The path of keys that leads to the first mistake. */
      readonly path?: readonly string[];
    };

/** The kind of an agent (local or remote), or the full error text. */
export function definitionKind(data: Data): DefinitionKind {
  const asLocal = issuesOf(local, data);
  if (asLocal.length === 0) return { kind: "local" };
  const asRemote = issuesOf(shapeOfRemote(data), data);
  if (asRemote.length === 0) return { kind: "remote" };
  const close = [asLocal, asRemote].find((issues) => issues.every(({ weight }) => weight === "value"));
  if (close !== undefined) return complaint(close.map(line).join("\n"), close);
  const about = (kind: string, issues: readonly Issue[]): string => `(${kind} Agent) ${issues.map(line).join(", ")}`;
  if (data["kind"] === "remote") return complaint(about("Remote", asRemote), asRemote);
  if (data["kind"] === "local") return complaint(about("Local", asLocal), asLocal);
  return complaint([about("Local", asLocal), about("Remote", asRemote)].join("\n"));
}

/** The error text for a frontmatter that is a single value, or nothing at all. */
export function notAnObject(value: unknown): string {
  const issue = type("", value === undefined ? "Required" : expected("object", value));
  return `Validation failed: Agent Definition:\n(Local Agent) ${line(issue)}\n(Remote Agent) ${line(issue)}`;
}

/** The problems of a list of remote agents. */
export function judgeList(
  list: readonly unknown[],
): { readonly error: string; readonly path: readonly string[] } | undefined {
  const issues = list.flatMap((data, index) =>
    (isRecord(data) ? issuesOf(shapeOfRemote(data), data) : record(data, "")).map((issue) => ({
      ...issue,
      path: issue.path === "" ? String(index) : `${index}.${issue.path}`,
    })),
  );
  if (issues.length === 0) return undefined;
  const error = `Validation failed: Remote Agents List:\n${issues.map(line).join("\n")}`;
  return { error, path: issues[0]!.path.split(".") };
}

const complaint = (text: string, issues: readonly Issue[] = []): DefinitionKind => ({
  error: `Validation failed: Agent Definition:\n${text}`,
  ...(issues[0] && { path: issues[0].path.split(".") }),
});

/** The problems of the data: first those of the keys of `shape`, in their order, then unknown keys. */
function issuesOf(shape: Shape, data: Data): Issue[] {
  const issues: Issue[] = [];
  for (const key of Object.keys(shape)) {
    const found = shape[key]!(Object.hasOwn(data, key) ? data[key] : undefined, key);
    if (found.length > 0) issues.push(...found);
  }
  const unknown = Object.keys(data).filter((key) => !Object.hasOwn(shape, key));
  if (unknown.length > 0) {
    issues.push(wrong("", `Unrecognized key(s) in object: ${unknown.map((key) => `'${key}'`).join(", ")}`));
  }
  return issues;
}

const line = ({ path, message }: Issue): string => `${path}: ${message}`;
const type = (path: string, message: string): Issue => ({ path, message, weight: "type" });
const wrong = (path: string, message: string): Issue => ({ path, message, weight: "value" });
const expected = (wanted: string, value: unknown): string => `Expected ${wanted}, received ${typeOf(value)}`;
const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : Number.isNaN(value) ? "nan" : typeof value;
