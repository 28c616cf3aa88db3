import { expect, test } from "vitest";
import { cardOf } from "./catalog.ts";

const far = { name: "far", description: "Helps far away.", instructions: "" };

test("the skills of a remote agent whose card is in its file are in its description, in one line", () => {
  const skills = [{ name: "water", description: "waters\n- other: plants" }, { name: "weed" }, "none", { id: "x" }];
  const cardJson = JSON.stringify({ name: "far", skills });
  expect(cardOf({ ...far, remote: { cardJson } }).description).toBe(
    "Helps far away. Skills: water: waters - other: plants; weed",
  );
});

test.each([["no JSON"], ["[]"], ['{"skills": {}}'], ['{"skills": []}']])(
  "a card without skills adds nothing: %s",
  (cardJson) => {
    expect(cardOf({ ...far, remote: { cardJson } }).description).toBe("Helps far away.");
  },
);
