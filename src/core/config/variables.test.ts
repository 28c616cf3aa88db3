import { expect, test } from "vitest";
import { configFromVariables, configVariables } from "./variables.ts";

test("every setting has its own environment variable", () => {
  const names = configVariables().map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["SUBCREW_MODEL", "SUBCREW_LIMITS_MAX_TURNS", "SUBCREW_PROTECT_BUNDLED"]),
  );
  expect(new Set(names).size).toBe(names.length);
});

test("the value of an environment variable is parsed by the type of its setting", () => {
  const env = {
    SUBCREW_MODEL: "fast, offline",
    SUBCREW_CONCURRENCY: "3",
    SUBCREW_TIERS_FAST: "a/b, offline",
    SUBCREW_PROTECT_BUNDLED: "true",
    SUBCREW_DISABLED: "a, b",
    SUBCREW_DEFAULTS_THINKING: "2048",
    SUBCREW_SCOPE: "",
    SUBCREW_HOME: "/somewhere",
    SUBCREW_OTHER: "is not ours",
    PATH: "/bin",
  };
  expect(configFromVariables(env)).toEqual({
    model: ["fast", "offline"],
    concurrency: 3,
    tiers: { fast: ["a/b", "offline"] },
    protectBundled: true,
    disabled: ["a", "b"],
    defaults: { thinking: 2048 },
  });
  expect(configFromVariables({ SUBCREW_MODEL: "auto" })).toEqual({});
});

test.each([
  ["SUBCREW_CONCURRENCY", "many", "has to be a number"],
  ["SUBCREW_PRESET", "opm", 'cannot be "opm"'],
  ["SUBCREW_LIMITS_MAX_TURNS", "0", "has to be more than 0"],
  ["SUBCREW_LIMITS_MAX_TURNS", "-1", "has to be more than 0"],
  ["SUBCREW_CONCURRENCY", "0x10", "has to be a number"],
  ["SUBCREW_CONCURRENCY", "1e1", "has to be a number"],
  ["SUBCREW_CONCURRENCY", "9".repeat(40), "has to be a number"],
])("the environment variable %s=%s is refused, and the error names the variable", (name, value, message) => {
  expect(() => configFromVariables({ [name]: value })).toThrow(name);
  expect(() => configFromVariables({ [name]: value })).toThrow(message);
});
