import { expect, test } from "vitest";
import { agentFor, firstParagraph } from "../../src/core/agent/skill.ts";
import { expandCommand, expandSkill } from "../../src/core/agent/skill-arguments.ts";
import { discoverCommands, discoverSkills, getCommand } from "../../src/doors/workflows.ts";
import { skillDialect, skillOf } from "../../src/formats/skill.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

test.each(cases<{ body: string; args: string | null }, string>("001-pegasus", "skill-args"))(
  "skill-args: $name",
  ({ input, want }) => {
    expect(expandSkill(input.body, input.args)).toBe(want);
  },
);

test.each(cases<{ body: string }, string>("001-pegasus", "skill-description-fallback"))(
  "skill-description-fallback: $name",
  async ({ input, want }) => {
    expect(firstParagraph(input.body)).toBe(want);
    const cwd = tempFolder({ ".claude/skills/some/SKILL.md": input.body });
    const [skill] = await discoverSkills(cwd, "/nowhere");
    expect(skill).toMatchObject({ name: "some", description: want, instructions: input.body.trim() });
  },
);

/** A case that is not a file lists only fields: this is a file with these fields. */
const everyField = `---
name: code-review
description: Review code changes
disable-model-invocation: true
user-invocable: false
allowed-tools: read_file, write_file
context: fork
agent: explore
model: gpt-4o
argument-hint: <pr-url>
---
Review $ARGUMENTS.
`;

type Fields = Record<string, unknown>;

test.each(cases<{ content: string }, Fields>("001-pegasus", "skill-file"))("skill-file: $name", ({ input, want }) => {
  const relative = "code-review/SKILL.md";
  const text = input.content.startsWith("---") ? input.content : everyField;
  const [read] = skillDialect.read(text, { file: relative, relative }).agents;
  const { source, ...fields } = skillOf({ agent: read!.agent, read: read! });
  const origin = source === "bundled" ? "builtin" : source;
  expect({ ...fields, agent: agentFor(fields), source: origin }).toMatchObject(want);
});

test.each(cases<{ skill: object }, { submitted_type: string }>("001-pegasus", "skill-routing"))(
  "skill-routing: $name",
  ({ input, want }) => {
    expect({ submitted_type: agentFor(input.skill) }).toEqual(want);
  },
);

test.each(cases<{ instructions: string; input: string }, string>("000-omp", "command-expand"))(
  "command-expand: $name",
  ({ input, want }) => {
    expect(expandCommand(input.instructions, input.input)).toBe(want);
  },
);

type Providers = { providers: [name: string, text: string][]; bundled: string[] };

test.each(cases<Providers, Record<string, string>>("000-omp", "command-discovery"))(
  "command-discovery: $name",
  async ({ input, want }) => {
    const families = [".omp", ".claude"];
    const files = input.providers.map(([name, text], at) => [`${families[at]}/commands/${name}.md`, text]);
    const commands = await discoverCommands(tempFolder(Object.fromEntries(files)), "/nowhere");
    for (const [name, text] of Object.entries(want)) expect(getCommand(commands, name)?.instructions).toBe(text);
    for (const name of input.bundled) {
      expect(getCommand(await discoverCommands(tempFolder(), "/nowhere"), name)?.source).toBe("bundled");
      expect(getCommand(commands, name.toUpperCase())).toBeUndefined();
    }
  },
);
