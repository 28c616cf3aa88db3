import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Need, needs } from "../../../needs.ts";
import { type Place, place, script } from "../../command.ts";
import { type Terminal, terminal } from "../../terminal.ts";

const terminals: Terminal[] = [];
let tmux: Need;
beforeAll(async () => {
  tmux = await needs("tmux");
}, 300_000);
afterAll(() => {
  for (const screen of terminals) screen.close();
});

const turns = { ".git/HEAD": "", "turns.json": script("done") };
const stranger =
  "---\nname: stranger\ndescription: From the repository.\ntools: [read_file, grep_files, bash]\n---\nGo.\n";
const runOf = (agent: string): string[] => ["run", agent, "x", "--model", "scripted:turns.json"];
const fileOf = ({ workspace }: Place, agent: string): string => join(workspace, ".agents/agents", `${agent}.md`);
function write(there: Place, agent: string, text: string): void {
  mkdirSync(join(there.workspace, ".agents/agents"), { recursive: true });
  writeFileSync(fileOf(there, agent), text);
}

test("an agent created with `agents new` runs at once, and nothing else of the project becomes trusted", async () => {
  const there = place(turns);
  write(there, "stranger", stranger);
  const made = await there.run(["agents", "new", "critic"]);
  expect(made).toMatchObject({ code: 0, stderr: 'Edit the file, then run the agent: subcrew run critic "..."\n' });
  expect(await there.run(runOf("critic"))).toMatchObject({ code: 0, stdout: "done\n" });
  expect(await there.run(runOf("stranger"))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("you have not trusted this file yet"),
  });
});

describe("a trusted file that changed", () => {
  const changed = async (): Promise<Place> => {
    const there = place(turns);
    await there.run(["agents", "new", "critic"]);
    appendFileSync(fileOf(there, "critic"), "Be kind.\n");
    return there;
  };

  test("is refused without a terminal, with the true reason and the command that trusts it", async () => {
    const there = await changed();
    const refused = await there.run(runOf("critic"));
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr).toBe(
      `subcrew: The agent "critic" cannot run: ${fileOf(there, "critic")} changed since you trusted it.\n  See the change and trust the file with \`subcrew trust\`.\n`,
    );
    expect((await there.run(["agents"])).stdout).toContain("it changed since you trusted it");
    const shown = await there.run(["trust"]);
    expect(shown.stdout).toContain("    +Be kind.");
    expect(shown.stdout).not.toMatch(/[0-9a-f]{12}/);
    expect((await there.run(["trust", "--yes"])).code).toBe(0);
    expect((await there.run(runOf("critic"))).code).toBe(0);
  });

  test("is shown as a diff at a terminal, once: after yes it runs, after no it is refused", async (context) => {
    if (tmux.missing !== undefined) return context.skip(tmux.missing);
    const there = await changed();
    const screen = terminal(tmux.path, there, runOf("critic"), { rows: 40 });
    terminals.push(screen);
    const asked = await screen.until("Trust this file?");
    expect(asked.join("\n")).toContain("+Be kind.");
    screen.keys("y", "Enter");
    await screen.until("[exit 0]");
    expect((await there.run(runOf("critic"))).code).toBe(0);

    appendFileSync(fileOf(there, "critic"), "Be cruel.\n");
    const second = terminal(tmux.path, there, [], {
      rows: 40,
      script: (line) => `${line} ${runOf("critic").join(" ")}\n${line} ${runOf("critic").join(" ")}\necho "[exit $?]"`,
    });
    terminals.push(second);
    const again = await second.until("Trust this file?");
    expect(again.join("\n")).toContain("+Be cruel.");
    expect(again.join("\n")).not.toContain("+Be kind.");
    second.keys("n", "Enter");
    await second.until("[exit 3]");
    expect(second.history().match(/Trust this file\?/g)).toHaveLength(1);
    expect(
      second
        .history()
        .replaceAll(/\s+/g, " ")
        .match(/changed since you trusted it/g),
    ).toHaveLength(2);
  });
});

test("`trust` shows the tools of an agent in full at 80 columns", async (context) => {
  if (tmux.missing !== undefined) return context.skip(tmux.missing);
  const tools = "read_file, list_files, glob, grep_files, write_file, edit_file, bash, http_get, todo, ask";
  const there = place(turns);
  write(there, "stranger", `---\nname: stranger\ndescription: d\ntools: [${tools}]\n---\nGo.\n`);
  const screen = terminal(tmux.path, there, ["trust"], { rows: 40 });
  terminals.push(screen);
  const shown = await screen.until("Trust these files");
  expect(shown.join("").replace(/\s+/g, " ")).toContain(`tools: ${tools}`);
  screen.keys("n", "Enter");
  await screen.until("[exit 3]");
});
