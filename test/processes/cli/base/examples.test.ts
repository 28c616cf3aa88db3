import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { type ProviderServer, startProviderServer } from "../../../../src/testing/provider-server.ts";
import { type Ended, type Place, place } from "../../command.ts";
import { wordsOf } from "../../docs/pages.ts";

// Runs the examples of `--help` in one process, in projects that have the agents and files of the examples.

const ran = new Set<string>();

/** Examples that are not run here, with the test that runs them or the reason why none does. */
const elsewhere: Readonly<Record<string, string>> = {
  "subcrew a2a --agents explore": "serves until it is stopped: test/processes/cli/a2a",
  "subcrew a2a --agents explore,review --port 7710 --token-file ~/.subcrew/a2a-tokens": "the same, at a fixed port",
  "subcrew acp": "talks with an editor: test/acp",
  "subcrew acp --agent general --permission-mode plan": "the same",
  "subcrew mcp --as Task": "talks with a host: test/processes/cli/mcp",
  "subcrew mcp --http --port 7777": "serves at a fixed port: test/processes/cli/mcp",
  "subcrew mcp trust github": "needs an MCP server that answers: test/processes/cli/mcp",
  "subcrew mcp login sentry": "opens a browser: test/processes/cli/mcp/login.test.ts",
  "subcrew mcp login sentry --no-browser": "waits for a browser: test/processes/cli/mcp/login.test.ts",
  "subcrew web --open": "opens a browser: test/processes/web",
  "subcrew web --port 7070 --share-readonly": "serves at a fixed port: test/processes/web",
  "subcrew chat": "needs a terminal: test/processes/cli/chat",
  "subcrew chat --resume run_4k2x": "needs a terminal: test/processes/cli/chat",
  "subcrew top": "needs a terminal: test/processes/tui",
  "subcrew top --all --notify bell": "the same",
  "subcrew watch": "the same",
  "subcrew watch nightly": "the same",
  "subcrew attach nightly": "needs a run of another process: test/processes/cli/runs/background.test.ts",
  "subcrew cancel nightly": "the same",
  "subcrew cancel nightly/docs": "the same",
  "subcrew stop nightly": "the same",
  "subcrew kill run_4k2x": "the same",
  "subcrew logs -f nightly": "the same",
  'subcrew send nightly "Leave the tests alone."': "the same",
  'subcrew send run_4k2x/build "Stop, and build it for Node 20." --interrupt': "the same",
  "subcrew inbox allow run_4k2x": "the same",
  "subcrew inbox allow run_4k2x --always": "the same",
  'subcrew inbox deny run_4k2x/page.1/approval "Make it shorter."': "the same",
  'subcrew inbox answer run_4k2x/lead "Use the second one."': "test/processes/cli/runs/questions.test.ts",
  "subcrew grow nightly --input more.json":
    "needs a run of another process: test/processes/cli/runs/team-of-twelve.test.ts",
  "subcrew wait nightly --until question || subcrew inbox":
    "needs a run that asks: test/processes/cli/runs/questions.test.ts",
  "subcrew permissions remove 'bash(npm test *)'": "needs an approved rule: test/processes/cli/chat/chat.test.ts",
  "subcrew permissions remove 2": "the same",
  "subcrew show data/tasks/2026-02-25/task1.jsonl": "needs a log of another tool: test/processes/cli/runs/show.test.ts",
  "subcrew init --yes --no-agent --hosts claude-code": "changes another program: test/processes/cli/setup/init.test.ts",
  "subcrew config edit": "opens an editor: test/processes/cli/setup/config.test.ts",
};

const team = `team:
  tasks:
    - { id: docs, task: Where is discount defined? }
    - { id: build, task: Who uses checkPassword?, depends: [docs] }
`;
const files = {
  "src/a.ts": "export const a = 1;\n",
  "src/login.ts": "export function checkPassword(given: string): boolean {\n  return given !== '';\n}\n",
  "src/cli/main.ts": "export const discount = 0.2; // an entry point, an exit code, a flag, a test\n",
  "team.yaml": team,
  "tasks.yaml":
    "agent: explore\ntasks:\n  - { name: docs, task: Where is discount defined? }\n  - { name: build, task: Who uses a? }\n",
  "steps.yaml":
    "agent: explore\nchain:\n  - { task: Where is discount defined? }\n  - { task: 'Explain: {previous}' }\n",
  "work.yaml": "agent: explore\ntask: Where is discount defined?\n",
  "answer.json": '{"type":"string"}',
  "critic.md": "---\nname: critic\ndescription: Finds faults.\ntools: Read\n---\nFind faults.\n",
  ".claude/agents/critic.md": "---\nname: critic\ndescription: Finds faults.\n---\nFind faults.\n",
  ".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews.\ntools: Read\n---\nReview.\n",
  "servers.json": '{"mcpServers":{"github":{"command":"true"},"sentry":{"url":"https://mcp.example/"}}}',
  "data/tasks/2026-02-25/task1.jsonl": "",
};

/** A git project with these files. */
function project(): Place {
  const made = place(files);
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: made.workspace });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(join(made.workspace, "src/a.ts"), "export const a = 2;\n");
  return made;
}

const wrong: unknown[] = [];
afterEach(() => expect(wrong.splice(0)).toEqual([]));

type Env = Readonly<Record<string, string>>;
type How = Readonly<{ code?: number; run?: string; env?: Env; says?: RegExp }>;

/**
 * Runs an example as it is written, with the run of this place for `run_4k2x`; each part of `a && b` and `a || b`
 * separately.
 */
async function does(at: Place, line: string, { code = 0, run = "nightly", env = {}, says }: How = {}): Promise<Ended> {
  ran.add(line);
  let last: Ended | undefined;
  for (const part of line.split(/ (?:&&|\|\|) /)) {
    const [, before = "", own = "", file] =
      /^(git diff \| |OLLAMA_HOST=\S+ )?(?:eval "\$\()?(.*?)(?:\)")?(?: > (\S+))?$/.exec(part) ?? [];
    const words = wordsOf(own.replaceAll("run_4k2x", run)) ?? [];
    const input = before.startsWith("git")
      ? execFileSync("git", ["diff"], { cwd: at.workspace, encoding: "utf8" })
      : "";
    last = await at.run(words.slice(1), { env, input, shared: true });
    const { stdout, stderr } = last;
    if (last.code !== code) wrong.push({ part, code: last.code, expected: code, said: stderr + stdout });
    if (file !== undefined && !file.startsWith("~")) writeFileSync(join(at.workspace, file), stdout);
  }
  if (says && !says.test(`${last?.stdout}${last?.stderr}`)) wrong.push({ line, says, said: last });
  return last!;
}

async function all(at: Place, lines: string, how: How = {}): Promise<void> {
  for (const line of lines.trim().split("\n")) await does(at, line.trim(), how);
}

test("the examples about modes and plans run", async () => {
  const at = project();
  await all(
    at,
    `git diff | subcrew ask -
     git diff | subcrew plan run explore -
     git diff | subcrew run explore -
     subcrew ask "Where are errors turned into exit codes, and which tests cover that?"
     subcrew chain --input steps.yaml
     subcrew chain a@explore="..." explore="..." explore="Compare {task:a} with {previous}."
     subcrew chain explore="List the entry points." explore="Explain the first of these: {previous}"
     subcrew chat "Which tests are slow, and why?"
     subcrew parallel --input tasks.yaml --concurrency 4
     subcrew parallel a@explore="List the flags." explore="Which of these have no test? {task:a}"
     subcrew parallel explore="Which tests are slow?" explore="Which are skipped?"
     subcrew plan chain --input steps.yaml
     subcrew plan chain a@explore="..." explore="..." explore="Compare {task:a} with {previous}."
     subcrew plan chain explore="List the entry points." explore="Explain the first of these: {previous}"
     subcrew plan chain explore="a" explore="b" --mermaid
     subcrew plan parallel --input tasks.yaml --concurrency 4
     subcrew plan parallel a@explore="List the flags." explore="Which of these have no test? {task:a}"
     subcrew plan parallel explore="Which tests are slow?" explore="Which are skipped?"
     subcrew plan parallel explore="a" explore="b"
     subcrew plan race --agents explore --models fast,balanced "..."
     subcrew plan race --agents explore,general "Where is the entry point?"
     subcrew plan race --agents explore,general --accept-schema answer.json "..."
     subcrew plan run --input work.yaml --concurrency 4
     subcrew plan run explore "Where are errors turned into exit codes?"
     subcrew plan team --input team.yaml
     subcrew plan team --input team.yaml --review-exhausted fail
     subcrew plan team --input team.yaml --yes
     subcrew plan team --input team.yaml > plan.json && subcrew run --plan plan.json
     subcrew plan run --plan plan.json
     subcrew run --plan plan.json
     subcrew race --agents explore,general "Where is the entry point?"
     subcrew race --agents explore,general --accept-schema answer.json "..."
     subcrew run --input work.yaml --concurrency 4
     subcrew run explore "Where are errors turned into exit codes?"
     subcrew skill code-review
     subcrew skill code-review src/cli --agent reviewer
     subcrew team --input team.yaml
     subcrew team --input team.yaml --review-exhausted fail
     subcrew team --input team.yaml --yes
     subcrew command init`,
  );
  const { env } = await provider();
  await does(at, 'subcrew race --agents explore --models fast,balanced "..."', { env });
});

test("the examples about agents, settings and trust run", async () => {
  const at = project();
  writeFileSync(join(at.home, ".claude.json"), '{"mcpServers":{"docs":{"command":"true"}}}');
  await does(at, "subcrew trust", { code: 3, says: /needs a confirmation in a terminal/ });
  await does(at, "subcrew init", { code: 2, says: /Add --yes/ });
  await all(
    at,
    `subcrew trust --yes
     subcrew agents --all
     subcrew agents --json
     subcrew agents new critic
     subcrew agents new my-explore --from explore --user
     subcrew agents show claude:reviewer
     subcrew agents convert .claude/agents/critic.md --to codex
     subcrew agents convert critic.md --to gemini --out .
     subcrew agents disable reviewer
     subcrew agents enable reviewer
     subcrew agents eject reviewer
     subcrew agents explain explore
     subcrew agents explain explore --model fast --tools read_file
     subcrew agents lint --fix .claude/agents
     subcrew agents lint --format json
     subcrew agents lint .claude/agents
     subcrew agents list --all
     subcrew agents list review
     subcrew agents sources
     subcrew trust --revoke
     subcrew commands
     subcrew commands review
     subcrew skills
     subcrew skills review
     eval "$(subcrew completion bash)"
     eval "$(subcrew completion zsh)"
     subcrew completion fish > ~/.config/fish/completions/subcrew.fish
     subcrew config path
     subcrew config list
     subcrew config list --all
     subcrew config set concurrency 4
     subcrew config unset concurrency
     subcrew config set agents.explore.model fast
     subcrew config set model anthropic/claude-sonnet-4
     subcrew config set permissions.deny '["bash(rm *)"]'
     subcrew permissions
     subcrew init --yes
     subcrew models
     OLLAMA_HOST=gpu:11434 subcrew models --json
     subcrew doctor
     subcrew doctor --json
     subcrew mcp --setup claude-code
     subcrew mcp import ./servers.json --yes
     subcrew mcp list --json
     subcrew mcp logout sentry`,
  );
  await does(at, "subcrew config get limits", { code: 1, says: /limits is not set/ });
  await does(at, "subcrew mcp import claude", { code: 3, says: /docs .*\n.*Add --yes/s });
});

/** A provider on this machine. Tasks that say "write" change src/a.ts; tasks that say "fail" fail twice. */
async function provider(): Promise<ProviderServer> {
  let failures = 0;
  const server = await startProviderServer(({ body }) => {
    const said = JSON.stringify(body["messages"] ?? body["input"]);
    if (said.includes("fail here") && failures < 2) {
      failures += 1;
      return { fault: "bad-request" };
    }
    if (!said.includes("write here") || said.includes("call_1")) return "Done.";
    return {
      calls: [{ id: "call_1", name: "write_file", input: { path: "src/a.ts", content: "export const a = 3;\n" } }],
    };
  });
  onTestFinished(() => server.close());
  return server;
}

/** A run with the tasks `docs` and `build`; its id. */
async function nightly(at: Place, env: Env, [docs, build]: readonly [string, string], more = ""): Promise<string> {
  const tasks = `agent: general\ntasks:\n  - { name: docs, task: ${docs} }\n  - { name: build, task: ${build} }\n`;
  writeFileSync(join(at.workspace, "nightly.yaml"), tasks);
  const line = `parallel --input nightly.yaml --name nightly --model ollama/m --permission-mode acceptEdits -o json${more}`;
  const { stdout, stderr } = await at.run(line.split(" "), { env, shared: true });
  const id = /run_[a-z0-9]{12}/.exec(stdout)?.[0];
  if (id === undefined) wrong.push({ stdout, stderr });
  return id ?? "";
}

test("the examples about records run", async () => {
  const { env } = await provider();
  const at = project();
  const run = await nightly(at, env, ["Read.", "write here"]);
  await all(
    at,
    `subcrew ps
     subcrew ps --all --json
     subcrew ps --here --status waiting,parked
     subcrew ps login --all
     subcrew runs --limit 5
     subcrew runs failed
     subcrew inbox
     subcrew inbox export nightly
     subcrew status nightly --json
     subcrew status run_4k2x
     subcrew show last
     subcrew show nightly --html > nightly.html
     subcrew show run_4k2x/build --full
     subcrew logs run_4k2x --json
     subcrew logs run_4k2x/build -v
     subcrew result nightly
     subcrew result run_4k2x/build
     subcrew wait nightly --timeout 30m && subcrew result nightly
     subcrew replay nightly
     subcrew replay run_4k2x --speed 0
     subcrew diff nightly
     subcrew diff nightly --stat
     subcrew diff run_4k2x/build src/a.ts
     subcrew undo nightly --dry-run
     subcrew undo run_4k2x src/a.ts
     subcrew undo run_4k2x
     subcrew resume run_4k2x
     subcrew resume run_4k2x --max-usd 5
     subcrew resume run_4k2x/build "Now also for Windows."
     subcrew gc --dry-run
     subcrew gc --older-than 30d --max-size 1GB`,
    { run, env },
  );
  const one = await at.run("run general Read. --model ollama/m -o json".split(" "), { env, shared: true });
  const single = { run: /run_[a-z0-9]{12}/.exec(one.stdout)?.[0] ?? "", env };
  await does(at, 'subcrew plan run --fork run_4k2x "Which of these is the riskiest?"', single);
  await does(at, 'subcrew run --fork run_4k2x "Which of these is the riskiest?"', single);
  await does(at, "subcrew rm run_4k2x nightly", single);
});

test("the examples about failed tasks, and about changes in a worktree, run", async () => {
  const { env } = await provider();
  const failed = project();
  const run = await nightly(failed, env, ["fail here", "Read."]);
  // the retried task fails a second time
  await does(failed, "subcrew resume nightly/docs --retry-failed", { run, env, code: 1 });
  await does(failed, "subcrew resume nightly --retry-failed", { run, env });

  const kept = project();
  writeFileSync(join(kept.workspace, "src/a.ts"), files["src/a.ts"]);
  const other = await nightly(kept, env, ["Read.", "write here"], " --isolation worktree --isolation-keep");
  await does(kept, "subcrew apply run_4k2x/build src/a.ts", { run: other, env });
  await does(kept, "subcrew apply run_4k2x/build", { run: other, env });
});

/**
 * The examples of all help pages, taken from the pages that test/cli/base/help-pages.test.ts compares with the
 * commands.
 */
function examplesOfHelp(): Set<string> {
  const folder = join(import.meta.dirname, "../../../cli/base/help");
  const pages = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  return new Set(
    pages.flatMap((page) => page.split("\nExamples:\n")[1]?.match(/(?<=^ {4})(?:\S.*)?subcrew .*$/gm) ?? []),
  );
}

test("every example was run here, or is listed with the reason", () => {
  const examples = examplesOfHelp();
  const listed = new Set([...ran, ...Object.keys(elsewhere)]);
  // The examples of `engine` and `worker` need a database; test/processes/cli/engine tests them.
  const isDistributed = (line: string): boolean => /^subcrew (?:engine|worker) /.test(line);
  expect([...examples].filter((line) => !listed.has(line) && !isDistributed(line))).toEqual([]);
  expect([...listed].filter((line) => !examples.has(line))).toEqual([]);
});
