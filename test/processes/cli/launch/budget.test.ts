import { describe, expect, test } from "vitest";
import { place, script } from "../../command.ts";

const read = { calls: [{ name: "read_file", input: { path: "a.txt" } }] };
const model = ["--model", "scripted:turns.json"];

type Told = Readonly<{ type: string; text?: string; outcome?: { fault?: { code: string; message: string } } }>;

async function told(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
): Promise<{ code: number | null; events: readonly Told[]; fault: string }> {
  const { code, stdout } = await place({ "a.txt": "a", ...files }).run([...args, ...model, "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Told);
  const fault = events.findLast(({ type }) => type === "run.ended")?.outcome?.fault;
  return { code, events, fault: fault ? `${fault.code} ${fault.message}` : "" };
}

const started = (events: readonly Told[], type: string): number => events.filter((event) => event.type === type).length;

describe("limits for a run and everything below it", () => {
  test("--max-tokens ends the run with exit code 4", async () => {
    const turn = { ...read, usage: { input: 4000, output: 900 } };
    const { code, fault } = await told(["run", "explore", "x", "--max-tokens", "9000"], {
      "turns.json": script(turn, turn, turn, turn, "done"),
    });
    expect([code, fault]).toEqual([4, expect.stringContaining("BUDGET")]);
  });

  test("--max-usd refuses a model without a known price", async () => {
    const { code, fault } = await told(["run", "explore", "x", "--max-usd", "0.01"], { "turns.json": script("done") });
    expect([code, fault]).toEqual([4, expect.stringMatching(/^BUDGET The price of scripted:turns\.json is unknown/)]);
  });

  test("--max-tool-calls refuses further calls, and the agent can still answer", async () => {
    const { code, events } = await told(["run", "explore", "x", "--max-tool-calls", "2"], {
      "turns.json": script(read, read, read, "done"),
    });
    expect([code, started(events, "tool.started")]).toEqual([0, 2]);
  });

  // Every started agent plays the same turns, so each one starts another agent as long as that is allowed.
  const nesting = {
    ".agents/agents/lead-one.md": "---\nname: lead-one\ndescription: d\ntools: [task]\nspawns: '*'\n---\nLead.\n",
    "turns.json": script(
      {
        calls: [
          { name: "task", input: { agent: "lead-one", tasks: [{ id: "On", description: "d", assignment: "on" }] } },
        ],
      },
      "done",
    ),
  };

  test.each([
    ["--max-depth", "1", 2],
    ["--max-depth", "3", 4],
    ["--max-spawns", "1", 2],
    ["--max-spawns", "2", 3],
  ])("%s %s lets %i agents work, and all of them answer", async (flag, value, nodes) => {
    const more = flag === "--max-spawns" ? ["--max-depth", "9"] : [];
    const { code, events } = await told(["run", "lead-one", "x", flag, value, ...more, "--trust"], nesting);
    expect([code, started(events, "node.started")]).toEqual([0, nodes]);
  });

  test("a run within its limits ends normally", async () => {
    const flags = ["--max-tokens", "100000", "--max-tool-calls", "9", "--max-spawns", "3", "--max-depth", "1"];
    const { code } = await told(["run", "explore", "x", ...flags], { "turns.json": script(read, "done") });
    expect(code).toBe(0);
  });

  test.each([
    ["--max-usd", "-1"],
    ["--max-usd", "much"],
    ["--max-tokens", "1.5"],
    ["--max-tool-calls", "x"],
    ["--max-spawns", "-2"],
    ["--max-depth", "deep"],
  ])("%s %s is reported as a mistake", async (flag, value) => {
    const { code, stderr } = await place().run(["run", "explore", "x", flag, value]);
    expect([code, stderr.includes(flag)]).toEqual([2, true]);
  });
});
