import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { fillInputs, templateString } from "../../../src/core/text/input-template.ts";
import { defineTool } from "../../../src/index.ts";
import { checkFor, createValidator } from "../../../src/runtime/task/compile-schema.ts";
import { faults } from "../../conformance/harness.ts";
import { call, play } from "../../support/play.ts";

/** A value that is nested so deeply that recursion without a limit runs out of stack. */
function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < levels; at++) value = [value];
  return value;
}

describe("PARSE-09 arguments of a model", () => {
  test("become either an error result or exactly the input of the tool, and the run continues", async () => {
    const seen: unknown[] = [];
    const echo = defineTool({
      name: "echo",
      description: "echoes",
      effect: "read",
      input: z.object({
        path: z.string().max(1_000_000),
        much: z.number().finite().optional(),
        any: z.unknown().optional(),
      }),
      run: (input) => {
        seen.push(input);
        return "seen";
      },
    });
    const odd = [
      { path: ["a"] },
      { path: 7 },
      { path: null },
      { path: "x".repeat(2_000_000) },
      { path: "a", much: Number.POSITIVE_INFINITY },
      { path: "\ud800 alone" },
      { path: "deep", any: deep(100) },
      { path: "deeper", any: deep(1_000) },
    ];
    const { ended, outcome } = await play(
      odd.map((input) => call("echo", input)),
      { tools: [echo], agent: { tools: ["echo"] } },
    );
    expect(outcome).toMatchObject({ status: "ok" });
    expect(seen).toHaveLength(2); // the text with a lone surrogate, and the value whose depth is within the limit
    expect(ended.filter(({ error }) => !error)).toHaveLength(2);
  });
});

describe("PARSE-10 templates", () => {
  test("fill in own inputs once, literally, and an unknown name is an error where all are required", () => {
    expect(templateString("${a} ${a}", { a: "${b} $& $1" })).toBe("${b} $& $1 ${b} $& $1");
    expect(() => templateString("${missing}", { a: 1 })).toThrow("missing");
    for (const name of ["toString", "__proto__", "constructor", "hasOwnProperty"]) {
      expect(() => templateString(`\${${name}}`, {})).toThrow(name);
      expect(fillInputs(`\${${name}}`, {})).toBe(`\${${name}}`);
    }
    expect(fillInputs("${${a}}", { a: "b", b: "c" })).toBe("${b}");
  });
});

describe("PARSE-11 PARSE-12 untrusted schemas", () => {
  const check = async (schema: Record<string, unknown>, value: unknown): Promise<string | undefined> => {
    const made = await checkFor(createValidator(), schema);
    return typeof made === "function" ? made(value) : `broken: ${made.broken}`;
  };

  test("a pattern whose matching never ends is stopped, and counts as not matched", async () => {
    const evil = `${"a".repeat(38)}!`;
    for (const pattern of ["^(a+)+$", "^(a|aa)+$", "^(a*)*b$", "^([a-z]+)*\\d$"]) {
      const began = performance.now();
      expect(await check({ type: "string", pattern }, evil)).toContain("must match pattern");
      expect(performance.now() - began).toBeLessThan(60_000); // without a limit it would take years
    }
    expect(await check({ type: "string", pattern: "^(a+)+$" }, "aaa")).toBeUndefined();
    expect(await check({ type: "string", pattern: "^\\d{4}-\\d{2}$" }, "2026-11")).toBeUndefined();
  });

  test("a reference to another address is refused without a request", async () => {
    let asked = 0;
    const server = createServer((_, response) => response.end(String(++asked))).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await check({ $ref: `http://127.0.0.1:${port}/schema.json` }, 1)).toMatch(/^broken: /);
    expect(await check({ $ref: "file:///etc/passwd" }, 1)).toMatch(/^broken: /);
    expect(asked).toBe(0);
  });

  test("a schema that refers to itself works, and a schema that is nested endlessly is refused", async () => {
    const list = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
    expect(await check(list, { next: {} })).toContain("next");
    let nested: Record<string, unknown> = { type: "string" };
    for (let at = 0; at < 10_000; at++) nested = { allOf: [nested] };
    expect(await check(nested, "x")).toMatch(/^broken: /);
  });
});

/** The tests of the other faults of this area. */
const elsewhere: Readonly<Record<string, string>> = Object.fromEntries(
  ["PARSE-01", "PARSE-02", "PARSE-03", "PARSE-04", "PARSE-05", "PARSE-06", "PARSE-07", "PARSE-08"].map((id) => [
    id,
    "test/runtime/discovery/hostile.test.ts",
  ]),
);

test("every fault of the area has a test", () => {
  const here = ["PARSE-09", "PARSE-10", "PARSE-11", "PARSE-12"];
  expect(
    faults("parsing")
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual([...Object.keys(elsewhere), ...here].toSorted());
});
