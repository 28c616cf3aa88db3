import { expect, test } from "vitest";
import { addressee } from "../../../src/core/delegation/address-of-task.ts";
import { createMailbox } from "../../../src/runtime/execute/mailbox.ts";
import { sendTo } from "../../../src/runtime/execute/send-message.ts";
import { call, calls, stage } from "../../support/stage.ts";
import { until } from "../../support/until.ts";

const there = ["lead", "lead/scout", "lead/sage", "lead.2/scout", "other/scout"];

test.each([
  ["lead/scout", "lead", "lead/scout"],
  ["sage", "lead", "lead/sage"],
  ["sage", "lead/scout", "lead/sage"],
  ["scout", "lead", "lead/scout"],
  ["scout", "elsewhere", undefined],
  ["lead", "lead", undefined],
  ["nobody", "lead", undefined],
])("the receiver name %s, used by the task %s, means the task %s", (to, from, path) => {
  expect(addressee(to, { from, there })).toBe(path);
});

test("helpers send messages to each other while they work, and get receipts", async () => {
  let listening = false;
  const { models, read, events } = await stage({
    lead: {
      tools: ["*", "Task"],
      delegation: ["Task"],
      says: [
        calls(
          ["Task", { description: "a", prompt: "Tell sage.", subagent_type: "scout" }],
          ["Task", { description: "b", prompt: "Listen.", subagent_type: "sage" }],
        ),
        "done",
      ],
    },
    scout: {
      says: [
        async () => {
          await until(() => listening);
          return { calls: [{ name: "current_time", input: {} }] };
        },
        ...Array.from({ length: 2 }, () => call("send_message", { to: "sage", message: "look at line 7" })),
        call("send_message", { to: "parent", message: "told sage" }),
        call("send_message", { to: "ghost", message: "?" }),
        "told",
      ],
    },
    sage: {
      says: Array.from({ length: 200 }, () => async ({ messages }: { messages: readonly unknown[] }) => {
        listening = true;
        if (JSON.stringify(messages).includes("look at line 7")) return "I looked";
        await new Promise((resolve) => setTimeout(resolve, 5));
        return { calls: [{ name: "current_time", input: {} }] };
      }),
    },
  });
  const receipts = read("scout").slice(1);
  expect(receipts[0]).toMatch(/^Sent to lead(\.2)?\/sage; it reads the message before its next turn\.$/);
  expect(receipts[2]).toBe("Sent to lead; it reads the message before its next turn.");
  expect(receipts[3]).toMatch(/^No task called "ghost" is running here\. Running tasks: lead/);
  expect(
    events.some((event) => event.type === "message.sent" && event.path === "lead" && event.text === "told sage"),
  ).toBe(true);
  expect(JSON.stringify(models["lead"]!.requests.at(-1)!.messages)).toContain("told sage");
});

test("a full message queue is reported to the sender", () => {
  const mailbox = createMailbox();
  mailbox.open("lead/slow");
  const run = { mailbox, emit: () => {} };
  const receipts = Array.from({ length: 101 }, () => sendTo(run, { to: "slow", text: "hurry", from: "lead" }));
  expect(receipts.filter(({ done }) => done)).toHaveLength(100);
  expect(receipts.at(-1)!.text).toMatch(/^lead\/slow has too many unread messages/);
});
