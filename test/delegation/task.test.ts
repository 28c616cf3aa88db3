import { expect, test } from "vitest";
import { call, stage } from "./stage.ts";

const lead = { tools: ["*", "task"] };
const batch = (agent: string, ...ids: readonly string[]) =>
  call("task", { agent, context: "  All about auth.  ", tasks: ids.map((id) => ({ id, assignment: `Look at ${id}.` })) });

test("a batch runs side by side, and the lead reads a summary of each", async () => {
  const { result, read, models, events } = await stage({
    lead: { ...lead, says: [batch("scout", "Auth", "Api"), "both are fine"] },
    scout: { says: ["found one", "found two"] },
  });
  expect(result).toMatchObject({ status: "ok", output: "both are fine" });
  expect(read("lead")[0]).toMatch(/^2\/2 tasks succeeded\.\n\n## Auth: ok \(run_\w+\/lead\/Auth\)/);
  expect(models["scout"]!.requests[0]!.messages[0]).toMatchObject({ text: expect.stringMatching(/All about auth\.\n\nLook at \w+\.$/) });
  expect(events.filter(({ type }) => type === "node.started").map(({ path }) => path).toSorted()).toEqual(["lead", "lead/Api", "lead/Auth"]);
});
