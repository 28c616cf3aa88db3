import { describe, expect, test } from "vitest";
import { inherit, lineages, unionOfTools } from "./inherit.ts";

test.each<[child: string[] | undefined, base: string[] | undefined, both: string[] | undefined]>([
  [["b"], ["a"], ["a", "b"]],
  [["a", "b"], ["a"], ["a", "b"]],
  [undefined, ["a"], ["a"]],
  [["a"], undefined, ["a"]],
  [["a"], ["*"], ["a"]],
  [[], ["a"], []],
  [undefined, undefined, undefined],
])("child tools %j and base tools %j give %j", (child, base, both) => expect(unionOfTools(child, base)).toEqual(both));

test("restrictions of the base agent apply to the child; all other fields of the child take precedence", () => {
  const base = {
    model: "m",
    thinking: "low",
    disallowedTools: ["bash"],
    limits: { maxTurns: 3 },
    permission: "plan",
  } as const;
  const child = {
    thinking: "high",
    disallowedTools: ["edit_file"],
    limits: { maxTurns: 9, maxDurationMs: 5 },
  } as const;
  expect(inherit(child, base)).toEqual({
    model: "m",
    thinking: "high",
    disallowedTools: ["bash", "edit_file"],
    limits: { maxTurns: 3, maxDurationMs: 5 },
    permission: "plan",
  });
});

describe("the base of an agent that extends another", () => {
  const heir = (name: string, base?: string, rank = 0): { name: string; rank: number; extends?: string } => ({
    name,
    rank,
    ...(base === undefined ? {} : { extends: base }),
  });

  test("the base is the definition with the highest precedence; an agent that extends its own name uses the next definition", () => {
    const [strong, weak, kid] = [heir("a", "a"), heir("a"), heir("kid", "a")] as const;
    const lines = lineages([strong, weak, kid]);
    expect(lines.get(strong)).toEqual({ base: weak });
    expect(lines.get(kid)).toEqual({ base: strong });
  });

  test("a base must be at least as trusted as the agent that extends it", () => {
    const [project, user, kid] = [heir("a", undefined, 1), heir("a", undefined, 2), heir("kid", "a", 2)] as const;
    expect(lineages([project, user, kid]).get(kid)).toEqual({ base: user });
  });

  test("the agents in an inheritance cycle, and the agents that extend them, fail; no other agent does", () => {
    const [a, b, c, fine] = [heir("a", "b"), heir("b", "a"), heir("c", "a"), heir("fine")] as const;
    const lines = lineages([a, b, c, fine]);
    expect([a, b, c].map((one) => lines.get(one))).toEqual(
      Array.from({ length: 3 }, () => ({
        fault: "inheritance-cycle",
        message: "Circular inheritance detected: a -> b -> a",
      })),
    );
    expect(lines.has(fine)).toBe(false);
  });
});
