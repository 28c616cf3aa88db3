import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { calls, lab, listen } from "./lab.ts";

const single = { mode: "single" as const, agent: "lead", task: "Go." };

test.each(["thread", "process"] as const)(
  "a lead in its own %s delegates, receives messages from helpers, and sends them messages",
  async (runner) => {
    const agents = {
      lead: [
        calls("Task", { description: "d", prompt: "Help.", subagent_type: "helper" }),
        calls("Task", { description: "d", prompt: "Help.", subagent_type: "ghost" }),
        calls("spawn_subagent", { type: "late", description: "d", input: "Take your time." }),
        calls("send_message", { to: "nobody", message: "?" }),
        "waiting",
        "all is done",
      ],
      helper: ["I helped."],
      late: [calls("bash", { command: "until [ -e waited-for ]; do sleep 0.05; done" }), "I was late."],
    };
    const more = { lead: { tools: ["*", "task"], delegation: ["Task", "spawn_subagent"], spawns: "*", runner } };
    const { crew, folder } = lab({ agents, more });
    const { result, events } = await listen(crew.run(single), (event) => {
      if (event.type === "text.delta" && event.text === "waiting") writeFileSync(join(folder, "waited-for"), "");
    });
    expect(result).toMatchObject({ status: "ok", output: "all is done" });
    const texts = events.flatMap((event) => (event.type === "tool.ended" && event.path === "lead" ? [event.text] : []));
    expect(texts[0]).toMatch(/^I helped\.\n\n\[agentId: run_\w+\/lead\/helper\]$/);
    expect(texts[1]).toMatch(/^Unknown subagent type: ghost\. Available: .*helper/);
    expect(JSON.parse(texts[2]!)).toMatchObject({ status: "spawned", taskId: `${result.id}/lead.2/late` });
    expect(texts[3]).toMatch(/^No task called "nobody" is running here\./);
    expect(events.find((event) => event.type === "message.sent" && event.path === "lead")).toMatchObject({
      text: expect.stringContaining("I was late."),
    });
  },
);
