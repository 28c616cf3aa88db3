import { expect, test } from "vitest";
import { createCrew } from "../../src/crew.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { changes } from "../../src/web/changes.ts";
import type { WebContext } from "../../src/web/routes.ts";
import { tempFolder } from "../support/temp-folder.ts";

test.each([
  { state: "refused", code: "NOT_FAILED", text: '"a" has not failed: it is running.' },
  { state: "done", code: "DONE", text: "Retrying: a." },
])("the page shows the receipt of a command that is $state", async (receipt) => {
  const models = { m: scripted("done") };
  const crew = createCrew({ cwd: tempFolder(), home: tempFolder(), discover: false, env: {}, model: "m", models });
  const { id } = await crew.run({ task: "a" });
  const ownCommand = async (): Promise<string> => `${JSON.stringify({ id, ...receipt })}\n`;
  const shown = await changes["continue"]!({ crew, ownCommand } as unknown as WebContext, {
    run: id,
    path: "",
    message: "go on",
  });
  expect(shown).toEqual({ done: receipt.state === "done", text: receipt.text, run: id });
});
