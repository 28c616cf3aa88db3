import { z } from "zod";
import { CrewError } from "../schema/error.ts";
import { faultsOf } from "../schema/parse.ts";
import { decimalIn } from "../schema/decimal.ts";
import { isRecord } from "../text/json.ts";
import { type Config, type ConfigPath, config } from "./config.ts";
import { fromLeaves } from "./layers.ts";

type Env = Readonly<Record<string, string | undefined>>;
type Kind = "text" | "number" | "truth" | "list" | "text or list" | "text or number";

/** A variable that sets one value of the configuration. */
export type ConfigVariable = Readonly<{ name: string; path: ConfigPath; kind: Kind }>;

/**
 * The variables of the settings. Every setting that is not below a name that the user chooses has a variable, such as
 * `SUBCREW_LIMITS_MAX_TURNS`.
 */
export function configVariables(): readonly ConfigVariable[] {
  return variablesIn(z.toJSONSchema(config, { io: "input" }), []);
}

/**
 * The variables that may have one of these names. This reads only the matching parts of the schema, because every
 * command calls it at its start.
 */
function variablesNamed(names: readonly string[]): readonly ConfigVariable[] {
  return Object.entries(config.shape).flatMap(([key, schema]) =>
    names.some((name) => name.startsWith(nameOf([key])))
      ? variablesIn(z.toJSONSchema(schema, { io: "input" }), [key])
      : [],
  );
}

/** The settings in the variables. An invalid variable is an error. */
export function configFromVariables(env: Env): Config {
  const given = Object.keys(env).filter((name) => name.startsWith("SUBCREW_") && !OTHERS.has(name) && env[name]);
  if (given.length === 0) return {};
  const leaves = variablesNamed(given)
    .filter(({ name }) => given.includes(name))
    .map(({ name, path, kind }) => [path, checked(name, path, valueOf(env[name]!.trim(), kind))] as const)
    .filter(([path, value]) => !(path[0] === "model" && value === "auto"));
  return fromLeaves(leaves);
}

/** Variables that begin with SUBCREW_ but are not settings. */
const OTHERS: ReadonlySet<string> = new Set(["SUBCREW_HOME", "SUBCREW_DEBUG"]);

function checked(name: string, path: ConfigPath, value: unknown): unknown {
  const faults = faultsOf(config, fromLeaves([[path, value]]), "configuration");
  const fault = faults.find((one) => path.every((step, at) => one.path[at] === step));
  if (fault === undefined) return value; // required keys are checked once all variables are combined
  throw new CrewError("BAD_CONFIG", `${name}: ${fault.message}`, fault.hint);
}

function valueOf(text: string, kind: Kind): unknown {
  const list = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  switch (kind) {
    case "number":
    case "text or number":
      return text.startsWith("-") ? -(decimalIn(text.slice(1)) ?? Number.NaN) || text : (decimalIn(text) ?? text);
    case "truth":
      return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
    case "list":
      return list;
    case "text or list":
      return list.length > 1 ? list : text;
    case "text":
      return text;
  }
}

function variablesIn(schema: unknown, path: ConfigPath): ConfigVariable[] {
  if (!isRecord(schema)) return [];
  if (isRecord(schema["properties"]))
    return Object.entries(schema["properties"]).flatMap(([key, inner]) => variablesIn(inner, [...path, key]));
  const kind = kindOf(schema);
  return kind === undefined ? [] : [{ name: nameOf(path), path, kind }];
}

function kindOf(schema: Readonly<Record<string, unknown>>): Kind | undefined {
  const variants = Array.isArray(schema["anyOf"]) ? schema["anyOf"].filter(isRecord).map(kindOf) : [];
  if (variants.includes("list")) return "text or list";
  if (variants.includes("number")) return "text or number";
  return KINDS[String(schema["type"])];
}

const KINDS: Readonly<Record<string, Kind>> = {
  string: "text",
  number: "number",
  integer: "number",
  boolean: "truth",
  array: "list",
};

const nameOf = (path: ConfigPath): string =>
  `SUBCREW_${path.map((step) => step.replace(/([a-z])([A-Z])|[.-]/g, "$1_$2").toUpperCase()).join("_")}`;
