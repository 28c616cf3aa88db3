import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv as AjvJtd } from "ajv/dist/jtd.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import type { Report } from "./content.ts";
import { fillSchema } from "./fill.ts";

const report: Report = {
  title: "Where is the login?",
  text: "The whole answer.\nWith lines.",
  summary: "Most likely src/login.ts:3.",
  findings: [
    {
      path: "src/login.ts",
      line: 3,
      quote: "export function login() {",
      lines: [],
      symbol: "login",
      reason: "matches login",
    },
    {
      path: "src/login.ts",
      line: 30,
      quote: "function check() {",
      lines: [],
      symbol: "check",
      reason: "matches login",
    },
    { path: "src/session.ts", line: 8, quote: "start(user);", lines: [], reason: "matches login" },
  ],
  quoted: [],
  steps: ["searched for login", "read src/login.ts"],
};
const nothing: Report = { title: "", text: "", summary: "Nothing was found.", findings: [], quoted: [], steps: [] };

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: "string" };

/** Every schema is filled three times: with findings, without any, and with only the required fields. */
const schemas: Record<string, Record<string, unknown>> = {
  "a text": object({ result: text }),
  "a result inside": object({ result: object({ summary: text, files: { type: "array", items: text } }) }),
  "a report on code": object({
    SummaryOfFindings: text,
    ExplorationTrace: { type: "array", items: text },
    RelevantLocations: {
      type: "array",
      items: object({ FilePath: text, Reasoning: text, KeySymbols: { type: "array", items: text } }),
    },
  }),
  "places with lines": object({
    places: {
      type: "array",
      items: object({
        path: text,
        line: { type: "integer", minimum: 1 },
        reason: text,
        symbols: { type: "array", items: text },
      }),
    },
  }),
  "optional fields": {
    type: "object",
    properties: { answer: text, error: text, nickname: text, count: { type: "integer" } },
    required: ["answer"],
  },
  "lists of a certain length": object({
    some: { type: "array", items: text, minItems: 5, maxItems: 6 },
    few: { type: "array", items: text, maxItems: 1 },
  }),
  "lists without repetition": object({
    files: { type: "array", items: text, uniqueItems: true, minItems: 4 },
    sizes: { type: "array", items: { type: "integer" }, uniqueItems: true, minItems: 3 },
  }),
  "objects that must differ": object({
    all: { type: "array", uniqueItems: true, minItems: 5, items: object({ name: text }) },
  }),
  "a tuple": object({ pair: { type: "array", prefixItems: [text, { type: "integer" }], items: false, minItems: 2 } }),
  numbers: object({
    low: { type: "number", minimum: 0.5, maximum: 0.9 },
    above: { type: "integer", exclusiveMinimum: 3, exclusiveMaximum: 5 },
    below: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    even: { type: "integer", minimum: 3, multipleOf: 2 },
    negative: { type: "integer", maximum: -7 },
    line: { type: "integer" },
  }),
  choices: object({
    status: { enum: ["failed", "ok"] },
    severity: { enum: ["high", "low"] },
    kind: { const: "report" },
    maybe: { enum: [null, "x"] },
    yes: { type: "boolean" },
  }),
  "lengths and patterns": object({
    short: { type: "string", maxLength: 10 },
    long: { type: "string", minLength: 300 },
    id: { type: "string", pattern: "^[a-z]+$" },
    version: { type: "string", pattern: "^\\d+\\.\\d+\\.\\d+$" },
    place: { type: "string", pattern: "^[\\w/.]+:\\d+$" },
  }),
  formats: object({
    when: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    mail: { type: "string", format: "email" },
    link: { type: "string", format: "uri" },
    id: { type: "string", format: "uuid" },
  }),
  "one of several": object({
    a: { anyOf: [{ type: "null" }, object({ text })] },
    b: { oneOf: [object({ error: text }), object({ value: { type: "integer" } })] },
    c: { type: ["null", "string"] },
  }),
  "kinds by a mark": object({
    shape: {
      oneOf: [
        object({ kind: { const: "circle" }, r: { type: "number" } }),
        object({ kind: { const: "square" }, a: { type: "number" } }),
      ],
    },
  }),
  "all of several": {
    allOf: [object({ a: text }, { additionalProperties: true }), object({ b: text }, { additionalProperties: true })],
  },
  "definitions at the top": {
    ...object({ item: { $ref: "#/$defs/item" } }),
    $defs: { item: object({ file: text, next: { $ref: "#/$defs/end" } }), end: { type: "boolean" } },
  },
  "a schema that contains itself": {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        properties: { name: text, children: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["name"],
        additionalProperties: false,
      },
    },
  },
  "any keys": { type: "object", minProperties: 2, additionalProperties: { type: "integer" } },
  "required but undescribed": { type: "object", required: ["title", "anything"] },
  "no schema at all": {},
  "keys that are traps": object(
    JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as Record<string, unknown>,
    { additionalProperties: true },
  ),
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);

test.each(Object.entries(schemas))("the offline model fills a JSON Schema: %s", (_, schema) => {
  const validate = ajv.compile(schema);
  for (const value of [
    fillSchema(schema, report),
    fillSchema(schema, nothing),
    fillSchema(schema, report, { bare: true }),
  ]) {
    expect({ value, errors: validate(value) ? [] : validate.errors }).toEqual({ value, errors: [] });
  }
});

const ajvJtd = new AjvJtd();

const jtd: Record<string, Record<string, unknown>> = {
  fields: {
    properties: { summary: { type: "string" }, files: { elements: { type: "string" } } },
    optionalProperties: { line: { type: "uint32" }, error: { type: "string" } },
  },
  "lists of objects": {
    properties: {
      findings: {
        elements: {
          properties: {
            file: { type: "string" },
            at: { type: "timestamp" },
            ok: { type: "boolean" },
            share: { type: "float64" },
          },
        },
      },
    },
  },
  choices: {
    properties: {
      status: { enum: ["done", "open"] },
      sizes: { values: { type: "int8" } },
      none: { type: "string", nullable: true },
    },
  },
  kinds: {
    discriminator: "kind",
    mapping: { a: { properties: { x: { type: "string" } } }, b: { properties: { y: { type: "string" } } } },
  },
  references: { definitions: { name: { type: "string" } }, properties: { name: { ref: "name" } } },
};

test.each(Object.entries(jtd))("the offline model fills a JTD schema: %s", (_, schema) => {
  const validate = ajvJtd.compile(schema);
  for (const value of [
    fillSchema(schema, report),
    fillSchema(schema, nothing),
    fillSchema(schema, report, { bare: true }),
  ]) {
    expect({ value, errors: validate(value) ? [] : validate.errors }).toEqual({ value, errors: [] });
  }
});

test("findings fill the fields whose names match them", () => {
  expect(fillSchema(schemas["a report on code"], report)).toEqual({
    SummaryOfFindings: "Most likely src/login.ts:3.",
    ExplorationTrace: ["searched for login", "read src/login.ts"],
    RelevantLocations: [
      {
        FilePath: "src/login.ts",
        Reasoning: "matches login: export function login() {",
        KeySymbols: ["login", "check"],
      },
      { FilePath: "src/session.ts", Reasoning: "matches login: start(user);", KeySymbols: [] },
    ],
  });
  expect(fillSchema(schemas["places with lines"], report)).toMatchObject({
    places: [{ path: "src/login.ts", line: 3 }, { line: 30 }, { path: "src/session.ts", line: 8 }],
  });
  expect(fillSchema(schemas["optional fields"], report)).toEqual({ answer: "The whole answer.\nWith lines." });
  expect(fillSchema(schemas.choices, report)).toMatchObject({ status: "ok", severity: "low", maybe: "x" });
});

test("definitions of an embedded schema are resolved", () => {
  const inner = { $defs: { item: object({ file: text }) }, type: "array", items: { $ref: "#/$defs/item" } };
  expect(fillSchema(object({ result: inner }), report)).toEqual({
    result: [{ file: "src/login.ts" }, { file: "src/session.ts" }],
  });
});
