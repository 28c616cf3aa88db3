import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message } from "../../../src/core/model/model.ts";
import { createCrew, defineAgent, type Event } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const lastUser = (messages: readonly Message[]): string =>
  messages.flatMap((message) => (message.role === "user" ? [message.text] : [])).at(-1) ?? "";

/** Plans first, then writes its own file; a task without an approval writes at once. */
const worker = (request: Parameters<ReturnType<typeof scripted>>[0]) => {
  const asked = request.messages.map((message) => ("text" in message ? message.text : "")).join("\n");
  const id = /Make (t\d+)/.exec(asked)![1]!;
  const mayWrite = request.tools.some(({ name }) => name === "write_file");
  const wrote = request.messages.at(-1)!.role === "tool";
  if (!mayWrite) return `The plan of ${id}.`;
  if (wrote) return `${id} is made.`;
  return { calls: [{ name: "write_file", input: { path: `${id}.txt`, content: `${id}\n` } }] };
};

test.each(["foreground", "kept on disk"])(
  "a team of 12 with reviews, approvals, rejections and growth (%s)",
  async (where) => {
    const cwd = tempFolder();
    const seen = new Map<string, number>();
    const reviewer = (request: Parameters<ReturnType<typeof scripted>>[0]) => {
      const id = /Make (t\d+)/.exec(lastUser(request.messages))![1]!;
      const times = (seen.get(id) ?? 0) + 1;
      seen.set(id, times);
      if (id === "t3") return "never good enough\nREVISION_NEEDED"; // the work of t3 is accepted without an approval
      return times === 1 ? { text: `${id} again\nREVISION_NEEDED` } : "APPROVED";
    };
    const many = <T>(script: T): readonly T[] => Array.from({ length: 100 }, () => script);
    const crew = createCrew({
      cwd,
      home: where === "foreground" ? false : tempFolder(),
      discover: false,
      env: {},
      agents: [
        defineAgent({
          name: "dev",
          description: "d",
          instructions: "i",
          model: "dev",
          tools: ["read_file", "write_file"],
        }),
        defineAgent({ name: "rev", description: "d", instructions: "i", model: "rev", tools: [] }),
      ],
      models: { dev: scripted(...many(worker)), rev: scripted(...many(reviewer)) },
      permissions: { mode: "acceptEdits" },
      unattended: false,
    });
    const tasks = Array.from({ length: 12 }, (_, n) => ({
      id: `t${n + 1}`,
      task: `Make t${n + 1}.`,
      assignee: "dev",
      ...(n >= 6 && { depends: [`t${n - 5}`] }),
      ...(n < 4 && { review: { reviewer: "rev", maxIterations: 2 } }),
      ...((n === 4 || n === 5 || n === 9) && { requiresApproval: true }),
    }));
    const run = crew.run({
      mode: "team",
      team: {
        members: [
          { role: "dev", agent: "dev" },
          { role: "rev", agent: "rev" },
        ],
        tasks,
        maxConcurrency: 4,
      },
    });
    const events: Event[] = [];
    let grown = false;
    for await (const event of run) {
      events.push(event);
      if (event.type !== "gate.opened") continue;
      const id = event.path.split(".")[0]!;
      expect(existsSync(join(cwd, `${id}.txt`))).toBe(false);
      if (!grown) {
        run.change({ newTasks: { t13: { kind: "task", task: { agent: "dev", prompt: "Make t13." } } } });
        grown = true;
      }
      // t5 is approved, t6 rejected once with a reason and then approved, t10 rejected without one.
      const again = id === "t6" && event.path.startsWith("t6.1/");
      await run.answer(
        event.path,
        id === "t10" ? { approve: false } : again ? { approve: false, text: "shorter" } : { approve: true },
      );
    }
    const result = await run;
    expect(result).toMatchObject({ status: "failed", fault: { code: "SOME_FAILED" }, approved: false });
    const ok = Object.entries(result.nodes).filter(([path, { status }]) => /^t\d+$/.test(path) && status === "ok");
    expect(ok.map(([path]) => path).toSorted()).toEqual(
      ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t11", "t12", "t13"].toSorted(),
    );
    expect(result.nodes["t10"]).toMatchObject({ status: "failed", fault: { code: "REJECTED" } });
    expect(result.nodes["t1"]).toMatchObject({ approved: true, reviews: [{ approved: false }, { approved: true }] });
    expect(result.nodes["t3"]).toMatchObject({ approved: false });
    expect(events.filter(({ type }) => type === "gate.opened")).toHaveLength(4);
    for (const [path] of ok) expect(existsSync(join(cwd, `${path}.txt`)), path).toBe(true);
    expect(existsSync(join(cwd, "t10.txt"))).toBe(false);
  },
);
