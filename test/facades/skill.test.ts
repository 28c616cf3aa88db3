import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { call, stage } from "../support/stage.ts";

const withSkills = () => {
  const cwd = tempFolder();
  const write = (name: string, more: string): void => {
    mkdirSync(join(cwd, ".claude/skills", name), { recursive: true });
    writeFileSync(
      join(cwd, ".claude/skills", name, "SKILL.md"),
      `---\nname: ${name}\ndescription: about ${name}\n${more}---\nDo ${name} to $ARGUMENTS.`,
    );
  };
  write("tidy", "");
  write("survey", "context: fork\nagent: scout\n");
  write("secret", "disable-model-invocation: true\n");
  return { cwd, discover: true, trusted: true, userHome: tempFolder() };
};

test("the skill tool returns a skill as text, lists skills on demand, and refuses those that are not meant for models", async () => {
  const { read } = await stage(
    {
      lead: {
        tools: ["skill"],
        says: [
          call("skill", { name: "tidy", arguments: "src" }),
          call("skill", {}),
          call("skill", { name: "secret" }),
          "done",
        ],
      },
    },
    withSkills(),
  );
  expect(read("lead")[0]).toBe("Do tidy to src.");
  expect(read("lead")[1]).toContain("tidy: about tidy");
  expect(read("lead")[1]).not.toContain("secret");
  expect(read("lead")[2]).toMatch(/^Unknown skill "secret"\./);
});

test("the skill tool runs a skill with its own agent in that agent, for callers that may start that agent", async () => {
  const says = [call("skill", { name: "survey", arguments: "src" }), "done"];
  const scout = { says: ["surveyed"] };
  const may = await stage({ lead: { tools: ["skill", "task"], spawns: ["scout"], says }, scout }, withSkills());
  expect(may.read("lead")[0]).toBe("surveyed");
  const mayNot = await stage({ lead: { tools: ["skill"], says }, scout }, withSkills());
  expect(mayNot.read("lead")[0]).toBe("Do survey to src.");
});
