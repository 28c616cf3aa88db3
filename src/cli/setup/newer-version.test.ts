import { expect, test } from "vitest";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { isNewer, registryOf } from "./newer-version.ts";

test.each([
  ["0.2.0", "0.1.9", true],
  ["0.10.0", "0.9.0", true],
  ["1.0.0", "1.0.0", false],
  ["0.9.0", "0.10.0", false],
  ["1.0.0-beta.1", "0.1.0", false],
  ["\u001b[31m9.9.9", "0.1.0", false],
  ["", "0.1.0", false],
])("is version %j newer than %j: %j", (latest, than, newer) => {
  expect(isNewer(latest, than)).toBe(newer);
});

test("the npm registry comes from the environment variable, else from the user's .npmrc, else it is the public registry", () => {
  const home = tempFolder({ ".npmrc": "# mine\nregistry = https://npm.example/${TEAM}/\n" });
  const none = { npm_config_globalconfig: "/nowhere" };
  expect(registryOf(home, { ...none, TEAM: "blue" })).toBe("https://npm.example/blue/");
  expect(registryOf(home, { ...none, npm_config_registry: "http://127.0.0.1:1/" })).toBe("http://127.0.0.1:1/");
  expect(registryOf("/nowhere", none)).toBe("https://registry.npmjs.org/");
});
