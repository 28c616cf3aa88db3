import { describe, expect, test } from "vitest";
import { errorText } from "../../../../src/cli/base/report.ts";
import { place } from "../../command.ts";

/** Mistakes of a person, and the exact output of the command: the problem, the fix and the exit code. */
type Row = Readonly<{
  wrong: string;
  args: readonly string[];
  files?: Readonly<Record<string, string>>;
  input?: string;
  says: string;
  hint: string;
  code?: number;
}>;

const task = (more: object = {}): object => ({ kind: "task", task: { agent: "explore", prompt: "x" }, ...more });

/** A plan file, and its mistake. */
const plan = (wrong: string, value: unknown, says: string, hint: string): Row => ({
  wrong,
  args: ["run", "--plan", "plan.json"],
  files: { "plan.json": JSON.stringify(value) },
  says,
  hint,
});

/** An input file, and its mistake. */
const input = (wrong: string, value: unknown, says: string, hint: string): Row => ({
  wrong,
  args: ["run", "--input", "work.json"],
  files: { "work.json": JSON.stringify(value) },
  says,
  hint,
});

const line = (wrong: string, args: readonly string[], says: string, hint: string, more: Partial<Row> = {}): Row => ({
  wrong,
  args,
  says,
  hint,
  ...more,
});

function nested(loops: number): object {
  let node: object = task();
  for (let depth = 0; depth < loops; depth += 1) {
    node = { kind: "loop", max: 1, until: "a", body: { nodes: { a: node }, output: "a" } };
  }
  return node;
}

const plans: readonly Row[] = [
  plan(
    "a need that does not exist",
    { nodes: { a: task({ needs: ["serch"] }), search: task() }, output: "a" },
    'Node "a" needs "serch", which is not a node.',
    'Did you mean "search"?',
  ),
  plan(
    "a cycle",
    { nodes: { a: task({ needs: ["b"] }), b: task({ needs: ["c"] }), c: task({ needs: ["a"] }) }, output: "a" },
    "The plan has a cycle: a -> b -> c -> a.",
    'Remove one of these needs, for example "b" from "a".',
  ),
  plan(
    "an output that does not exist",
    { nodes: { search: task() }, output: "serch" },
    'The plan\'s output "serch" is not one of its nodes.',
    'Did you mean "search"?',
  ),
  plan(
    "no output",
    { nodes: { a: task() } },
    '"output" of the plan is missing.',
    "Expected here: the node whose output is the result.",
  ),
  plan(
    "an agent that does not exist",
    { nodes: { a: task({ task: { agent: "explor", prompt: "x" } }) }, output: "a" },
    'Unknown agent "explor", named by node "a".',
    'Did you mean "explore"?',
  ),
  plan(
    "a reference to nothing",
    { nodes: { a: task({ task: { prompt: "use {serch}" } }), search: task() }, output: "a" },
    'Node "a" refers to {serch}, which is not a node.',
    'Did you mean "search"? To keep the braces as text, list the real references under `refs`.',
  ),
  plan(
    "a node that needs itself",
    { nodes: { a: task({ needs: ["a"] }) }, output: "a" },
    'Node "a" needs itself.',
    'Remove "a" from its own needs and references.',
  ),
  plan("no nodes", { nodes: {}, output: "a" }, "The plan has no nodes.", "Add at least one task under `nodes`."),
  plan(
    "nine loops inside each other",
    { nodes: { a: nested(9) }, output: "a" },
    "Loops are nested more than 8 deep.",
    "Flatten the plan: one loop inside another is usually enough.",
  ),
  plan(
    "a node that nothing uses",
    { nodes: { a: task(), b: task() }, output: "a" },
    'Nothing uses node "b": the output "a" does not depend on it.',
    'Add "b" to the needs of "a", or remove it.',
  ),
  plan(
    "an unknown key in the plan",
    { nodes: { a: task() }, output: "a", conurrency: 2 },
    'The plan has an unknown key "conurrency".',
    'Did you mean "concurrency"?',
  ),
  plan(
    "an unknown key in a task",
    { nodes: { a: task({ task: { prompt: "x", modle: "offline" } }) }, output: "a" },
    '"nodes.a.task" of the plan has an unknown key "modle".',
    'Did you mean "model"?',
  ),
  plan(
    "a number where a text belongs",
    { nodes: { a: task({ task: { prompt: 5 } }) }, output: "a" },
    '"nodes.a.task.prompt" of the plan has to be a text, not a number.',
    "Expected here: the prompt; {node} is replaced by that node's output.",
  ),
  plan(
    "a list where an object belongs",
    { nodes: [task()], output: "a" },
    '"nodes" of the plan has to be an object, not a list.',
    "Give an object.",
  ),
  plan(
    "a kind that does not exist",
    { nodes: { a: { kind: "tsk" } }, output: "a" },
    '"nodes.a.kind" of the plan cannot be "tsk".',
    'Did you mean "task"?',
  ),
  plan(
    "no kind",
    { nodes: { a: {} }, output: "a" },
    '"nodes.a.kind" of the plan is missing.',
    "Use one of: task, join, gate, loop.",
  ),
  plan(
    "more successes than nodes",
    { nodes: { a: { kind: "join", needs: ["b"], pick: "first", count: 2 }, b: task() }, output: "a" },
    'Node "a" requires 2 successful nodes but depends on only 1.',
    "Lower `count` or add nodes to its needs.",
  ),
  plan(
    "a loop whose end does not exist",
    {
      nodes: { a: { kind: "loop", max: 2, until: "revew", body: { nodes: { review: task() }, output: "review" } } },
      output: "a",
    },
    'The plan\'s `until` "revew" is not one of its nodes.',
    'Did you mean "review"?',
  ),
  plan(
    "a model that does not exist",
    { nodes: { a: task({ task: { prompt: "x", model: "ofline" } }) }, output: "a" },
    'The model "ofline" is unknown.',
    'Did you mean "offline"?',
  ),
  line(
    "a key twice in YAML",
    ["run", "--plan", "plan.yaml"],
    '"plan.yaml" has the key "a" twice (line 3).',
    "Give each key a unique name.",
    {
      files: {
        "plan.yaml":
          "nodes:\n  a: { kind: task, task: { prompt: x } }\n  a: { kind: task, task: { prompt: y } }\noutput: a\n",
      },
    },
  ),
  line(
    "a key twice in JSON",
    ["run", "--plan", "plan.json"],
    '"plan.json" has the key "a" twice (line 1).',
    "Give each key a unique name.",
    {
      files: { "plan.json": '{"nodes": {"a": {"kind": "task"}, "a": {"kind": "task"}}, "output": "a"}' },
    },
  ),
];

const inputs: readonly Row[] = [
  input(
    "two modes at once",
    { task: "x", tasks: [{ task: "y" }] },
    "The input names 2 modes (task, tasks).",
    "Give exactly one of: task, tasks, chain, race, team, plan.",
  ),
  input(
    "no mode",
    { objective: "x" },
    "The input names no mode.",
    "Give exactly one of: task, tasks, chain, race, team, plan.",
  ),
  input(
    "a mode that does not exist",
    { mode: "paralel", tasks: [] },
    'Unknown mode "paralel".',
    'Did you mean "parallel"?',
  ),
  input(
    "a list",
    [],
    "The input is not an object.",
    "Give an object with one of: task, tasks, chain, race, team, plan.",
  ),
  input("a blank task", { task: "   " }, '"task" of the single input is empty.', "Expected here: the prompt."),
  input("no tasks", { tasks: [] }, '"tasks" of the parallel input is empty.', "Add at least one entry."),
  input(
    "an unknown key in an item",
    { tasks: [{ tsak: "x", task: "x" }] },
    '"tasks.0" of the parallel input has an unknown key "tsak".',
    'Did you mean "task"?',
  ),
  input(
    "two steps of one name",
    {
      chain: [
        { task: "x", name: "a" },
        { task: "y", name: "a" },
      ],
    },
    'Two steps are called "a".',
    "Give each of them its own name.",
  ),
  input(
    "a text where a list belongs",
    { race: { task: "x", agents: "explore" } },
    '"race.agents" of the race input has to be a list, not a text.',
    "Expected here: the agents that compete.",
  ),
  input(
    "a team with nothing to do",
    { team: { members: [{ role: "a" }] } },
    "The team has nothing to do.",
    "Give the team `tasks`, or give each member a `task`.",
  ),
  input(
    "an assignee who is not in the team",
    { team: { members: [{ role: "writer" }], tasks: [{ id: "a", task: "x", assignee: "writr" }] } },
    'Task "a" is assigned to "writr", which is not a role of the team.',
    'Did you mean "writer"?',
  ),
  input(
    "a reviewer who is not in the team",
    { team: { members: [{ role: "writer" }], tasks: [{ id: "a", task: "x", review: { reviewer: "boss" } }] } },
    'The review of task "a" is assigned to "boss", which is not a role of the team.',
    "Known roles: writer.",
  ),
  input(
    "a role twice",
    { team: { members: [{ role: "a" }, { role: "a" }], tasks: [{ id: "x", task: "x" }] } },
    'Two members have the role "a".',
    "Give each member its own role.",
  ),
  input(
    "a member with an agent that does not exist",
    { team: { members: [{ role: "a", agent: "genral" }], tasks: [{ id: "x", task: "x", assignee: "a" }] } },
    'Unknown agent "genral", named by node "x".',
    'Did you mean "general"?',
  ),
  input(
    "a dependency that does not exist",
    {
      team: {
        tasks: [
          { id: "a", task: "x", depends: ["buidl"] },
          { id: "build", task: "y" },
        ],
      },
    },
    'Task "a" depends on "buidl", which is not a task of the team.',
    'Did you mean "build"?',
  ),
  input(
    "tasks that wait for each other",
    {
      team: {
        tasks: [
          { id: "a", task: "x", depends: ["b"] },
          { id: "b", task: "y", depends: ["a"] },
        ],
      },
    },
    "The plan has a cycle: a -> b -> a.",
    'Remove one of these needs, for example "b" from "a".',
  ),
];

const lines: readonly Row[] = [
  line("a typo in a command", ["paralell", "x"], 'Unknown command "paralell".', "Did you mean `subcrew parallel`?"),
  line(
    "a command that is like no other",
    ["orchestrate"],
    'Unknown command "orchestrate".',
    "See `subcrew --help` for all commands.",
  ),
  line(
    "a typo in a flag",
    ["run", "explore", "x", "--modle", "y"],
    'Unknown flag "--modle".',
    'Did you mean "--model"?',
  ),
  line(
    "a flag before the command",
    ["--json", "run", "explore", "x"],
    'Unknown flag "--json".',
    "Flags come after the command, as in `subcrew run --json ...`.",
    { code: 2 },
  ),
  line(
    "a prompt that looks like a flag",
    ["run", "explore", "-what is this"],
    'Unknown flag "-what is this".',
    "See `subcrew run --help`. Put `--` before a text that begins with a dash.",
  ),
  line(
    "a flag without its value",
    ["run", "explore", "x", "--model"],
    'The flag "--model" needs a value.',
    "See `subcrew run --help`.",
  ),
  line(
    "nothing to run",
    ["run"],
    "No agent, input or plan given.",
    'Give an agent and a prompt, as in `subcrew run explore "..."`, or --input or --plan.',
  ),
  line(
    "no prompt",
    ["run", "explore"],
    "The prompt is missing.",
    'Give the prompt after the agent, as in `subcrew run explore "..."`, or - to read the prompt from standard input.',
  ),
  line(
    "no agent",
    ["run", "where is it?"],
    "The prompt is missing.",
    'An agent comes before the prompt, as in `subcrew run explore "..."`.',
  ),
  line(
    "an empty prompt from standard input",
    ["run", "explore", "-"],
    "The prompt is missing.",
    'Give the prompt after the agent, as in `subcrew run explore "..."`, or - to read the prompt from standard input.',
  ),
  line("an agent that does not exist", ["run", "exlpore", "x"], 'Unknown agent "exlpore".', 'Did you mean "explore"?'),
  line(
    "a model that does not exist",
    ["run", "explore", "x", "--model", "nemo"],
    'The model "nemo" is unknown.',
    "Write provider/model, or a tier: fast, balanced, powerful.",
  ),
  line(
    "a retry that is none",
    ["run", "explore", "x", "--retry", "often"],
    '--retry cannot be "often".',
    "Give the number of attempts and the first wait, as in --retry 3x500ms.",
  ),
  line(
    "a time that is none",
    ["run", "explore", "x", "--max-time", "soon"],
    '--max-time cannot be "soon".',
    "Give a duration, as in --max-time 90s, 5m or 1h30m.",
  ),
  line(
    "no concurrency",
    ["run", "explore", "x", "--concurrency", "0"],
    '--concurrency cannot be "0".',
    "Give a whole number, as in --concurrency 4.",
  ),
  line(
    "half a turn",
    ["run", "explore", "x", "--max-turns", "1.5"],
    '--max-turns cannot be "1.5".',
    "Give a whole number, as in --max-turns 4.",
  ),
  line(
    "a thinking level that is none",
    ["run", "explore", "x", "--thinking", "much"],
    '--thinking cannot be "much".',
    "Give off, minimal, low, medium, high, xhigh, or a number of tokens.",
  ),
  line(
    "a tool that does not exist",
    ["run", "explore", "x", "--tools", "raed_file"],
    'Unknown tool "raed_file".',
    'Did you mean "read_file"?',
  ),
  line(
    "deltas without JSON",
    ["run", "explore", "x", "--deltas"],
    "--deltas requires --json.",
    "Add --json, or leave out --deltas.",
  ),
  line(
    "a file that is missing",
    ["run", "--input", "nope.yaml"],
    'The file "nope.yaml" does not exist.',
    "Check the path; it is relative to the current folder.",
  ),
  line("a file that is a folder", ["run", "--input", "."], '"." is a folder.', "Name a file in this folder."),
  line(
    "a file that is neither JSON nor YAML",
    ["run", "--input", "work.txt"],
    '"work.txt" is neither JSON nor YAML: missed comma between flow collection entries (line 2).',
    "Correct the syntax.",
    {
      files: { "work.txt": '{"task":\n "x" "y"}' },
    },
  ),
  line("nothing on standard input", ["run", "--input", "-"], "The standard input is empty.", "Provide JSON or YAML."),
  line(
    "a file for another mode",
    ["parallel", "--input", "steps.yaml"],
    '"steps.yaml" contains a chain input, but this command runs parallel.',
    "Use `subcrew chain --input steps.yaml`.",
    {
      files: { "steps.yaml": "chain:\n  - task: x\n" },
    },
  ),
  line(
    "the work twice",
    ["parallel", "explore=x", "--input", "work.json"],
    "The input is given twice: with --input and on the command line.",
    "Use one of them.",
  ),
  line(
    "words beside a plan",
    ["run", "explore", "x", "--plan", "plan.json"],
    "--plan cannot be combined with an agent or a prompt.",
    "Remove the arguments after --plan FILE; the plan names its own agents and prompts.",
  ),
  line(
    "a task without its agent",
    ["parallel", "where is it?"],
    '"where is it?" does not name an agent.',
    'Write agent="prompt", as in explore="Where is the entry point?".',
  ),
  line(
    "a task without a prompt",
    ["parallel", "explore="],
    'The prompt for "explore" is empty.',
    'Write explore="prompt", or explore=- to read the prompt from standard input.',
  ),
  line(
    "two tasks of one name",
    ["parallel", "a@explore=x", "a@explore=y"],
    'Two tasks are called "a".',
    "Give each of them its own name.",
  ),
  line(
    "no tasks",
    ["parallel"],
    "No task was given.",
    'Give at least one task, as in `subcrew parallel explore="..." explore="..."`, or --input.',
  ),
  line(
    "a placeholder that refers to nothing, when that counts",
    ["chain", "explore=use {task:nope}", "--strict"],
    'The prompt of "explore" contains {task:nope}, which does not refer to another task.',
    "Correct the placeholder, or run without --strict.",
  ),
  line(
    "a race without contenders",
    ["race", "x"],
    "Name at least two agents or models to race.",
    "Name agents with --agents a,b, or models with --models m,n.",
  ),
  line(
    "a race without a prompt",
    ["race", "--agents", "explore,general"],
    "The prompt is missing.",
    "Give the prompt after the flags, or - to read it from standard input.",
  ),
  line(
    "an acceptance schema that is none",
    ["race", "--agents", "explore", "--accept-schema", "schema.json", "x"],
    '--accept-schema: "schema.json" is not a valid JSON Schema: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf.',
    'Give a JSON Schema, as in {"type": "object", "required": ["answer"]}.',
    { files: { "schema.json": '{"type": "obejct"}' } },
  ),
  line(
    "a schema that is a list",
    ["run", "explore", "x", "--schema", "schema.json"],
    '--schema: "schema.json" is not a valid JSON Schema: it is not an object.',
    'Give a JSON Schema, as in {"type": "object", "required": ["answer"]}.',
    {
      files: { "schema.json": "[]" },
    },
  ),
  line(
    "a schema for a whole plan",
    ["run", "--plan", "plan.json", "--schema", "schema.json"],
    "--schema cannot be used for a plan.",
    "Set `schema` at a task in the file instead.",
    {
      files: { "schema.json": "{}", "plan.json": JSON.stringify({ nodes: { a: task() }, output: "a" }) },
    },
  ),
  line(
    "a team without a file",
    ["team"],
    "No team was given.",
    "Give a file with --input, as in `subcrew team --input team.yaml`; see `subcrew team --help` for an example.",
  ),
  line(
    "a folder that is missing",
    ["run", "explore", "x", "--cwd", "nowhere"],
    '--cwd: the folder "nowhere" does not exist.',
    "Check the path; it is relative to the current folder.",
  ),
  line(
    "a context file that is missing",
    ["run", "explore", "x", "--context-file", "nope.md"],
    '--context-file: the file "nope.md" does not exist.',
    "Check the path; it is relative to the current folder.",
  ),
  line(
    "a context file from elsewhere",
    ["run", "explore", "x", "--context-file", "/etc/hostname"],
    '--context-file: "/etc/hostname" is outside of the working folder.',
    "Choose a folder with --cwd that contains the file, or give its text with --context.",
  ),
  line(
    "a plan of nothing",
    ["plan"],
    "No subcommand of `plan` given.",
    "Give one of: run, parallel, chain, race, team.",
  ),
  line(
    "a plan of a mode that does not exist",
    ["plan", "chian", "explore=x"],
    'Unknown command "chian".',
    "Did you mean `subcrew plan chain`?",
  ),
  line(
    "an error code that does not exist",
    ["help", "UNKNOWN_RUNN"],
    'Unknown error code "UNKNOWN_RUNN".',
    "Did you mean `subcrew help UNKNOWN_RUN`?",
  ),
  line("a run that does not exist", ["resume", "run_nope"], 'The run "run_nope" does not exist.', "No runs yet."),
  line(
    "no run to resume",
    ["resume"],
    "No run given.",
    "Give the id of the run, the beginning of the id, the name of the run, or `last` for the newest run; `subcrew runs` lists them.",
  ),
  line(
    "more words than a command takes",
    ["models", "all"],
    'Too many arguments for "subcrew models": "all".',
    "See `subcrew models --help`.",
  ),
  line(
    "a script that is no JSON",
    ["run", "explore", "x", "--model", "scripted:turns.json"],
    "The script turns.json is not JSON.",
    'Give a list of turns, as in ["hello"].',
    { files: { "turns.json": "hello" } },
  ),
  line(
    "a turn that is none",
    ["run", "explore", "x", "--model", "scripted:turns.json"],
    '"0" of the script turns.json has an unknown key "txet".',
    'Did you mean "text"?',
    { files: { "turns.json": '[{"txet": "x"}]' } },
  ),
];

describe.each([
  ["a malformed plan", plans],
  ["a malformed input", inputs],
  ["a wrong command line", lines],
])("%s gets an error with the problem, the fix and exit code 2", (_, rows) => {
  test.concurrent.each(rows)("$wrong", async (row) => {
    const { args, files, input: stdin = "", says, hint, code = 2 } = row;
    // The first row of each group runs in its own process, and proves that the exit code is that of the process.
    const ended = await place(files).run(args, { input: stdin, shared: row !== rows[0] });
    const json = args.includes("--json");
    if (json) expect(JSON.parse(ended.stderr)).toEqual({ type: "error", code: "BAD_INPUT", message: says, hint });
    else expect(ended.stderr).toBe(`subcrew: ${says}\n  ${hint}\n`);
    expect(ended).toMatchObject({ code, stdout: "" });
  });
});

test("every one of these errors fits on a terminal of 80 columns", async () => {
  const rows = [...plans, ...inputs, ...lines];
  const shown = rows.map(({ says, hint }) => errorText({ message: says, hint }, 80)).join("\n");
  expect(shown.split("\n").filter((each) => each.length > 80 && !/\S{70}|`[^`]{70,}`/.test(each))).toEqual([]);
  expect(shown.replaceAll(/\s+/g, " ")).toBe(
    rows
      .map(({ says, hint }) => `subcrew: ${says}\n  ${hint}\n`)
      .join("\n")
      .replaceAll(/\s+/g, " "),
  );
  await expect(shown).toMatchFileSnapshot("errors-at-80-columns.txt");
});
