import { jsonSchemaFor } from "../../src/doors/schemas.ts";

type Shape = Readonly<Record<string, unknown>>;

/** The tables of docs/events.md, from the schemas of events and results. */
export function eventsTables(): Readonly<{ events: string; result: string }> {
  const variants = jsonSchemaFor("event")["oneOf"] as readonly Shape[];
  const events = variants.flatMap((variant) => {
    const properties = variant["properties"] as Readonly<Record<string, Shape>>;
    const type = String(properties["type"]?.["const"]);
    const live = properties["seq"] === undefined ? " *Live only: no `seq`, not recorded.*" : "";
    const fields = Object.entries(properties).filter(
      ([name]) => !["type", "run", "path", "at", "seq", "jumped"].includes(name),
    );
    return [`### ${type}`, "", `${String(variant["description"])}${live}`, "", ...table(fields, variant), ""];
  });
  const result = jsonSchemaFor("result");
  const fields = Object.entries(result["properties"] as Readonly<Record<string, Shape>>);
  return { events: events.join("\n"), result: table(fields, result).join("\n") };
}

function table(fields: readonly (readonly [string, Shape])[], of: Shape): string[] {
  if (fields.length === 0) return ["It has no further fields."];
  const required = new Set((of["required"] as readonly string[] | undefined) ?? []);
  return [
    "| field | value | what it is |",
    "|---|---|---|",
    ...fields.map(([name, shape]) => {
      const said = textOf(shape["description"]);
      return `| \`${name}\`${required.has(name) ? "" : " (optional)"} | ${kindOf(shape)} | ${said.replaceAll("|", "\\|")} |`;
    }),
  ];
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

const words: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  integer: "number",
  boolean: "true or false",
  object: "object",
};

function kindOf(shape: Shape): string {
  if (Array.isArray(shape["enum"])) {
    const all = shape["enum"] as readonly unknown[];
    return all.length > 8 ? "a code" : all.map((word) => `\`${String(word)}\``).join(", ");
  }
  if (shape["const"] !== undefined) return `\`${textOf(shape["const"])}\``;
  if (shape["type"] === "array") return `list of ${kindOf((shape["items"] ?? {}) as Shape)}`;
  if (Array.isArray(shape["oneOf"]) || Array.isArray(shape["anyOf"])) return "object";
  return words[String(shape["type"])] ?? "any JSON";
}
