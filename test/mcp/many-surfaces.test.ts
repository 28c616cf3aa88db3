import { expect, test } from "vitest";
import { crewOf, session } from "./session.ts";

const task = { mode: "single", agent: "scout", task: "x" } as const;
const slow = { text: "late", delayMs: 600_000 };

test("a run of the server that is stopped and resumed elsewhere has its new state here", async () => {
  const crew = crewOf({ scout: [slow, "Found."] });
  const { client } = await session(crew, "auto");
  const started = await client.callTool({ name: "run", arguments: { agent: "scout", task: "x", wait: false } });
  const { run } = started.structuredContent as { run: string };
  const command = { do: "pause", reason: "stopped by the user" } as const;
  const never = new AbortController().signal;
  await crew.kept.tell(run, command, { waitMs: 60_000, signal: never });
  await crew.kept.ended(run, never);
  const status = async (): Promise<unknown> =>
    (await client.callTool({ name: "status", arguments: { run } })).structuredContent;
  expect(await status()).toMatchObject({ runs: [{ status: "paused", tasks: [{ status: "paused" }] }] });
  while ((await crew.kept.owner(run)) !== undefined) await new Promise(setImmediate);
  await crew.resume(run);
  expect(await status()).toMatchObject({ runs: [{ status: "ok" }] });
  await client.close();
});

test("`answer` gives words to an agent of another process that asks for them, and no permission", async () => {
  const asks = { calls: [{ name: "ask", input: { question: "Which port?" } }] };
  const crew = crewOf({ scout: [asks, "Port 80."] });
  const run = crew.run(task, { asksCalls: true });
  const questions = async (): Promise<number> => (await crew.kept.questions()).length;
  while ((await questions()) === 0) await new Promise(setImmediate);
  const { client } = await session(crew, "auto", { allRuns: true });
  const answered = await client.callTool({ name: "answer", arguments: { run: run.id, approve: true, text: "80" } });
  expect(JSON.stringify(answered.content)).not.toContain("permission");
  expect(await run).toMatchObject({ status: "ok", output: "Port 80." });
  await client.close();
});
