import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createCrew, type Crew } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { agentOn, crewOf, eras, session } from "./session.ts";

function crewWith(files: Readonly<Record<string, string>>): Crew {
  const cwd = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const home = tempFolder();
  return createCrew({ cwd, home, userHome: home, env: { PATH: "/usr/bin:/bin" }, trusted: true });
}

const workflows = {
  ".claude/commands/fix-issue.md":
    "---\ndescription: Fixes an issue.\nargument-hint: <issue> [branch]\n---\nFix issue $1 on branch $2.\n",
  ".claude/commands/note.md": "Write a note about: $ARGUMENTS\n",
  ".claude/skills/audit/SKILL.md":
    "---\nname: audit\ndescription: Audits.\ncontext: fork\nagent: scout\n---\nAudit $ARGUMENTS now.\n",
  ".claude/skills/note/SKILL.md": "---\nname: note\ndescription: A skill.\n---\nRemember: $ARGUMENTS\n",
  ".claude/skills/hidden/SKILL.md": "---\nname: hidden\ndescription: For models.\nuser-invocable: false\n---\nNo.\n",
};

const textOf = (got: { messages: readonly { content: unknown }[] }): unknown => got.messages[0]?.content;

test.for(eras)("workflow commands and skills are prompts, over the %s protocol", async (era) => {
  const { client, errors } = await session(crewWith(workflows), era);
  const { prompts } = await client.listPrompts();
  const named = new Map(prompts.map((prompt) => [prompt.name, prompt]));
  expect(named.get("fix-issue")).toMatchObject({
    description: "Fixes an issue.",
    arguments: [
      { name: "issue", required: true },
      { name: "branch", required: false },
    ],
  });
  expect(named.get("note")?.arguments).toEqual([
    { name: "arguments", description: "the text after the name of the command", required: false },
  ]);
  expect([...named.keys()]).toEqual(expect.arrayContaining(["init", "audit", "skill:note", "code-review"]));
  expect(named.has("hidden")).toBe(false);

  const fixed = await client.getPrompt({ name: "fix-issue", arguments: { issue: "7", branch: "a b" } });
  expect(fixed).toMatchObject({ description: "Fixes an issue.", messages: [{ role: "user" }] });
  expect(textOf(fixed)).toEqual({ type: "text", text: "Fix issue 7 on branch a b." });
  const note = await client.getPrompt({ name: "note", arguments: { arguments: "the $1 trap" } });
  expect(textOf(note)).toMatchObject({ text: "Write a note about: the $1 trap" });
  const skill = await client.getPrompt({ name: "skill:note", arguments: { arguments: "tea" } });
  expect(textOf(skill)).toMatchObject({ text: "Remember: tea" });
  const audit = await client.getPrompt({ name: "audit", arguments: { arguments: "src" } });
  expect(textOf(audit)).toMatchObject({
    text: expect.stringMatching(/^Call the tool `run` .* agent "scout" .*\n\nAudit src now\.$/),
  });

  await expect(client.getPrompt({ name: "fix-issue" })).rejects.toThrow('needs the argument "issue"');
  await expect(client.getPrompt({ name: "nothing" })).rejects.toThrow('Unknown prompt "nothing"');
  await expect(client.getPrompt({ name: "hidden" })).rejects.toThrow('Unknown prompt "hidden"');
  expect(errors).toEqual([]);
  await client.close();
});

test("no text of a skill or command gives a client a known secret", async () => {
  const secret = "value-of-key-1";
  const text = (name: string): string =>
    `---\nname: ${name}\ndescription: About ${secret}.\nargument-hint: <${secret}-x> more\n---\nUse ${secret}.\n`;
  const cwd = tempFolder({ ".claude/commands/fix.md": text("fix"), ".claude/skills/audit/SKILL.md": text("audit") });
  const home = tempFolder();
  const env = { PATH: "/usr/bin:/bin", WORK_API_KEY: secret };
  const { client } = await session(createCrew({ cwd, home, userHome: home, env, trusted: true }), eras[0]);
  const listed = await client.listPrompts();
  const prompts = await Promise.all(["fix", "audit"].map((name) => client.getPrompt({ name, arguments: {} })));
  expect(JSON.stringify([listed, prompts])).not.toContain(secret);
  expect(JSON.stringify(prompts)).toContain("Use [redacted].");
  await client.close();
});

test.for(eras)("runs and their outputs are resources, over the %s protocol", async (era) => {
  const { client } = await session(crewOf({ scout: ["It is in main.ts."], sage: ["Nowhere."] }), era);
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(["subcrew://runs"]);
  const call = await client.callTool({
    name: "parallel",
    arguments: {
      tasks: [
        { agent: "scout", task: "x" },
        { agent: "sage", task: "y" },
      ],
    },
  });
  const { run, output } = call.structuredContent as { run: string; output: string };
  const { resources } = await client.listResources();
  expect(resources).toEqual([
    expect.objectContaining({ uri: "subcrew://runs" }),
    expect.objectContaining({ uri: `subcrew://runs/${run}`, mimeType: "application/json" }),
    expect.objectContaining({ uri: `subcrew://runs/${run}/output`, mimeType: "text/markdown" }),
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "subcrew://runs/{run}",
    "subcrew://runs/{run}/output",
    "subcrew://runs/{run}/tasks/{+path}",
  ]);
  const read = async (uri: string): Promise<string> =>
    (await client.readResource({ uri })).contents.map((each) => ("text" in each ? each.text : "")).join("");
  expect(JSON.parse(await read("subcrew://runs"))).toEqual([{ run, status: "ok", uri: `subcrew://runs/${run}` }]);
  expect(JSON.parse(await read(`subcrew://runs/${run}`))).toMatchObject({ run, status: "ok", output });
  expect(await read(`subcrew://runs/${run}/output`)).toBe(output);
  expect(await read(`subcrew://runs/${run}/tasks/sage`)).toBe("Nowhere.");
  for (const uri of [
    `subcrew://runs/${run}/tasks/nobody`,
    "subcrew://runs/run_none",
    "file:///etc/passwd",
    "subcrew://runs/%",
  ])
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
  await client.close();
});

test("a client reads only the runs that were started through its server", async () => {
  const [cwd, home] = [tempFolder(), tempFolder()];
  const crew = createCrew({
    cwd,
    home,
    env: { PATH: "/usr/bin:/bin" },
    discover: false,
    agents: [agentOn("scout")],
    models: { scout: scripted("a secret of another client") },
  });
  const { id: run } = await crew.run({ mode: "single", agent: "scout", task: "x" });
  const own = await session(crew, "auto");
  await expect(own.client.readResource({ uri: `subcrew://runs/${run}/output` })).rejects.toThrow(/not found/i);
  await own.client.close();
  const shared = await session(crew, "auto", { allRuns: true });
  const { contents } = await shared.client.readResource({ uri: `subcrew://runs/${run}/output` });
  expect(contents).toMatchObject([{ text: "a secret of another client" }]);
  await shared.client.close();
});
