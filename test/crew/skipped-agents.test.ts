import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createCrew, openDelegation } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Files of the user that are skipped, by the name that a person asks for. */
const skipped: Readonly<Record<string, readonly [file: string, content: string | Buffer, reason: RegExp]>> = {
  bare: [".claude/agents/bare.md", "---\nname: bare\n---\nWork.\n", /description/],
  ring: [".agents/agents/ring.md", "---\nname: ring\ndescription: works\nextends: ring\n---\nWork.\n", /Circular/],
  wide: [
    ".claude/agents/wide.md",
    Buffer.from("\ufeff---\nname: wide\ndescription: works\n---\nWork.\n", "utf16le"),
    /UTF-16/,
  ],
  folder: [
    ".subcrew/subagents/folder/SUBAGENT.md",
    "---\nname: other\ndescription: works\n---\nWork.\n",
    /folder|other/,
  ],
};

function crewAt(): ReturnType<typeof createCrew> {
  const home = tempFolder();
  for (const [file, content] of Object.values(skipped)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), content);
  }
  return createCrew({
    cwd: tempFolder(),
    home: join(home, ".subcrew"),
    env: { PATH: "/usr/bin:/bin", HOME: home },
    models: { m: scripted("done") },
    model: "m",
    unattended: true,
  });
}

test.each(Object.entries(skipped))(
  "an agent whose file is skipped (%s) is refused with file and reason",
  async (name, [file, , reason]) => {
    const crew = crewAt();
    const failure = await crew.run({ mode: "single", agent: name, task: "Go." }).then(
      () => undefined,
      (error: unknown) => error as { code: string; hint: string },
    );
    expect(failure?.code).toBe("UNKNOWN_AGENT");
    expect(failure?.hint).toContain(file);
    expect(failure?.hint).toMatch(reason);
    for (const [as, input] of [
      ["task", { agent: name, tasks: [{ id: "a", assignment: "Go." }] }],
      ["parallel", { agent: name, task: "Go." }],
      ["spawn_subagent", { type: name, description: "d", input: "Go." }],
      ["invoke_agent", { agent_name: name, prompt: "Go." }],
    ] as const) {
      const { text } = await openDelegation(crew, { as: [as] }).call(as, input, {
        signal: new AbortController().signal,
      });
      expect([as, text]).toEqual([as, expect.stringContaining(file)]);
    }
  },
);
