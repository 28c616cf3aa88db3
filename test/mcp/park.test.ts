import { expect, test } from "vitest";
import { openDelegation } from "../../src/doors/delegation.ts";
import type { Script } from "../../src/models/scripted/scripted.ts";
import { crewOf, eras, session } from "./session.ts";

const refused: Script = {
  error: {
    code: "MODEL_AUTH",
    message: "The key was refused.",
    hint: "Correct it.",
    retryable: false,
    retryAfterMs: 600_000,
  },
};

test.for(eras)(
  "a call over the %s protocol returns at once when its run is parked, with the reason and the command",
  async (era) => {
    const { client } = await session(crewOf({ scout: [refused] }), era);
    const result = await client.callTool({ name: "run", arguments: { agent: "scout", task: "x" } });
    const { run } = result.structuredContent as { run: string };
    expect(result.structuredContent).toMatchObject({
      status: "parked",
      parked: {
        why: "The key was refused.",
        waitsFor: "key",
        helps: "Correct it.",
        until: expect.any(Number),
        command: `subcrew resume ${run}`,
      },
    });
    expect(JSON.stringify(result.content)).toContain(`To continue now: \`subcrew resume ${run}\``);
    const status = await client.callTool({ name: "status", arguments: { run } });
    expect(status.structuredContent).toMatchObject({ runs: [{ status: "parked" }] });
    await client.close();
  },
);

test.for(eras)(
  "a delegation tool over the %s protocol returns at once when the run that it started is parked",
  async (era) => {
    const crew = crewOf({ scout: [refused] });
    const delegation = openDelegation(crew, { as: ["Task"], run: { parkByDefault: true } });
    const { client } = await session(crew, era, { delegation });
    const result = await client.callTool({
      name: "Task",
      arguments: { subagent_type: "scout", description: "look", prompt: "Look." },
    });
    expect(JSON.stringify(result.content)).toMatch(/run_\w+ is parked: The key was refused\./);
    await client.close();
  },
);

test("a short wait for the provider does not end the call", async () => {
  const busy: Script = {
    error: { code: "MODEL_RATE_LIMIT", message: "Slow down.", retryable: true, retryAfterMs: 50 },
  };
  const { client } = await session(crewOf({ scout: [busy, "Found."] }), "auto");
  const result = await client.callTool({ name: "run", arguments: { agent: "scout", task: "x" } });
  expect(result.structuredContent).toMatchObject({ status: "ok", output: "Found." });
  await client.close();
});
