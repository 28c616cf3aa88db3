import { expect, test } from "vitest";
import { createConversation } from "../../src/crew/conversation.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { call, crewOf } from "../support/stage.ts";

const whole = Array.from({ length: 5_000 }, (_, at) => `finding ${at}`).join("\n");

test("the result of a helper that ended between two messages comes with the next message, and its file is read", async () => {
  const over = deferred<void>();
  const start = { description: "find it", prompt: "Find it.", subagent_type: "scout", run_in_background: true };
  const { crew, models } = crewOf({
    lead: {
      tools: ["*", "Task"],
      delegation: ["Task"],
      says: [
        call("Task", start),
        "It is looked for.",
        (request) => {
          const file = /full output[^:]*: ([^\]\s]+)\]/.exec(JSON.stringify(request.messages.at(-1)))?.[1];
          return { calls: [{ name: "grep_files", input: { path: file, pattern: "finding 2500$" } }] };
        },
        "Found.",
      ],
    },
    scout: { says: [whole] },
  });
  const talk = createConversation({
    crew,
    options: { outliving: { ended: () => over.resolve() } },
    opening: async (task) => ({ mode: "single", agent: "lead", task }),
  });
  for (const text of ["Find it.", "And?"]) {
    const { run } = await talk.say(text);
    await run;
    talk.ended(run);
    await over.promise;
  }
  const messages = models["lead"]!.requests.at(-1)!.messages;
  const said = messages.flatMap((one) => (one.role === "user" ? [one.text] : []));
  const id = /Task ID: (run_\w+\/scout)/.exec(JSON.stringify(messages))![1]!;
  expect(said[1]).toContain(`[Ended in the background] ${id}: ok\n\nfinding 0\n`);
  expect(said[1]).toMatch(/\nfinding 4999\n\nAnd\?$/);
  const results = messages.flatMap((one) => (one.role === "tool" ? one.results.map(({ text }) => text) : []));
  expect(results.at(-1)).toMatch(/scout\.md:2501: finding 2500$/);
});
