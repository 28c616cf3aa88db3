import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ProviderRequest } from "../../../../src/testing/provider-server.ts";
import type { ProviderTurn } from "../../../../src/testing/provider-turn.ts";
import { provider } from "../../../support/talk.ts";
import { until } from "../../../support/until.ts";
import { place } from "../../command.ts";

type Body = Readonly<{
  messages: readonly Readonly<{ role: string; content: string }>[];
  tools?: readonly Readonly<{ function: Readonly<{ name: string }> }>[];
}>;

/**
 * A member that plans while it may only read, then writes its file. The reviewer demands one more round from each, and
 * never approves t3.
 */
function members(): (request: ProviderRequest) => ProviderTurn {
  const seen = new Map<string, number>();
  return ({ body }) => {
    const { messages, tools = [] } = body as Body;
    const asked = messages.filter(({ role }) => role === "user").at(-1)!.content;
    if (messages[0]!.content.includes("You are rev.")) {
      const id = /Make (t\d+)/.exec(asked)![1]!;
      seen.set(id, (seen.get(id) ?? 0) + 1);
      if (id === "t3") return { text: "never good enough\nREVISION_NEEDED" };
      return { text: seen.get(id) === 1 ? `${id} again\nREVISION_NEEDED` : "APPROVED" };
    }
    const id = /Make (t\d+)/.exec(messages.map(({ content }) => content).join("\n"))![1]!;
    if (!tools.some((tool) => tool.function.name === "write_file")) return { text: `The plan of ${id}.` };
    if (messages.at(-1)!.role === "tool") return { text: `${id} is made.` };
    return { text: "", calls: [{ name: "write_file", input: { path: `${id}.txt`, content: `${id}\n` } }] };
  };
}

const team = {
  members: [
    { role: "dev", systemPrompt: "You are dev.", tools: ["read_file", "write_file"] },
    { role: "rev", systemPrompt: "You are rev.", tools: [] },
  ],
  tasks: Array.from({ length: 12 }, (_, n) => ({
    id: `t${n + 1}`,
    task: `Make t${n + 1}.`,
    assignee: "dev",
    ...(n >= 6 && { depends: [`t${n - 5}`] }),
    ...(n < 4 && { review: { reviewer: "rev", maxIterations: 2 } }),
    ...((n === 4 || n === 5 || n === 9) && { requiresApproval: true }),
  })),
  maxConcurrency: 4,
};
const more = {
  newTasks: {
    t13: {
      kind: "task",
      task: { prompt: "Make t13.", systemPrompt: "You are dev.", tools: ["write_file"], model: "openai-chat/gpt-4o" },
    },
  },
};

test("a team of 12 in the background: reviews, approvals and rejections from the inbox, and growth", async () => {
  const server = await provider(members());
  const files = { "team.json": JSON.stringify({ team }), "more.json": JSON.stringify(more) };
  const there = place(files);
  const run = (...args: readonly string[]) => there.run(args, { env: server.env });
  const flags = ["--model", "openai-chat/gpt-4o", "--permission-mode", "acceptEdits", "--bg", "--quiet"];
  const begun = await run("team", "--input", "team.json", ...flags);
  expect(begun.code, begun.stderr).toBe(0);
  const id = begun.stdout.trim();
  const answered: string[] = [];
  const answer = async (path: string): Promise<void> => {
    const task = path.split(".")[0]!;
    // the file must not exist before its approval
    expect(existsSync(join(there.workspace, `${task}.txt`)), task).toBe(false);
    if (answered.length === 0) {
      const grown = await run("grow", id, "--input", "more.json");
      expect([grown.code, grown.stdout], grown.stderr).toEqual([0, "The plan was changed; added: t13.\n"]);
    }
    answered.push(path);
    const words =
      task === "t10" ? ["deny", `${id}/${path}`] : path.startsWith("t6.1/") ? ["deny", `${id}/${path}`, "shorter"] : [];
    const said = await run("inbox", ...(words.length > 0 ? words : ["allow", `${id}/${path}`]));
    expect(said.code, said.stderr).toBe(0);
  };
  await until(async () => {
    const open = JSON.parse((await run("inbox", "--json")).stdout) as { path: string }[];
    for (const { path } of open) if (!answered.includes(path)) await answer(path);
    return answered.length === 4;
  });
  expect([...answered].sort()).toEqual(["t10.1/approval", "t5.1/approval", "t6.1/approval", "t6.2/approval"]);
  expect((await run("wait", id)).code).toBe(1);
  const result = JSON.parse((await run("result", id, "--json")).stdout) as {
    approved: boolean;
    fault: { code: string };
    nodes: Record<string, { status: string; approved?: boolean; reviews?: object[]; fault?: object }>;
  };
  expect(result).toMatchObject({ fault: { code: "SOME_FAILED" }, approved: false });
  for (let n = 1; n <= 13; n += 1) {
    expect(result.nodes[`t${n}`]?.status, `t${n}`).toBe(n === 10 ? "failed" : "ok");
    expect(existsSync(join(there.workspace, `t${n}.txt`)), `t${n}`).toBe(n !== 10);
  }
  expect(result.nodes["t10"]!.fault).toMatchObject({ code: "REJECTED" });
  expect(result.nodes["t1"]).toMatchObject({ approved: true, reviews: [{ approved: false }, { approved: true }] });
  expect(result.nodes["t3"]).toMatchObject({ approved: false });
  expect((await run("status", id)).stdout).toMatch(/Not approved: t3/);
  const bad = await run("grow", id, "--input", "more.json");
  expect([bad.code, bad.stderr]).toEqual([3, expect.stringContaining("has ended")]);
});
