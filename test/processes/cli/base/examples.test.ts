import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CliCommand } from "../../../../src/cli/base/command.ts";
import { commands } from "../../../../src/cli/commands.ts";
import { type ProviderServer, startProviderServer } from "../../../../src/testing/provider-server.ts";
import { type Ended, type Place, place } from "../../command.ts";
import { wordsOf } from "../../docs/pages.ts";

// Runs the examples of `--help` in one process, in projects that have what the examples name.

const ran = new Set<string>();

/** Examples that no line here runs, and where something runs them or why nothing does. */
const elsewhere: Readonly<Record<string, string>> = {
  "subcrew a2a --agents explore": "serves until it is stopped: test/processes/cli/a2a",
  "subcrew a2a --agents explore,review --port 7710 --token-file ~/.subcrew/a2a-tokens": "the same, at a fixed port",
  "subcrew acp": "talks with an editor: test/acp",
  "subcrew acp --agent general --permission-mode plan": "the same",
  "subcrew mcp --as Task": "talks with a host: test/processes/cli/mcp",
  "subcrew mcp --http --port 7777": "serves at a fixed port: test/processes/cli/mcp",
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
  "subcrew config edit": "opens an editor: test/processes/cli/setup/config.test.ts",
  "subcrew engine dev": "starts a database: test/processes/cli/engine",
  "subcrew engine dev --json": "the same",
  "subcrew engine drain build-1.4711": "needs a database: test/processes/cli/engine",
  "subcrew engine migrate --engine postgres://...": "the same",
  "subcrew engine status": "the same",
  "subcrew engine status --engine postgres://...": "the same",
  "subcrew worker --engine postgres://...": "the same",
  "subcrew worker --engine postgres://... --slots 32 --scratch": "the same",
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
  "tasks.yaml": "agent: explore\ntasks:\n  - { name: docs, task: Where is discount defined? }\n  - { name: build, task: Who uses a? }\n",
  "steps.yaml": "agent: explore\nchain:\n  - { task: Where is discount defined? }\n  - { task: 'Explain: {previous}' }\n",
  "work.yaml": "agent: explore\ntask: Where is discount defined?\n",
  "answer.json": '{"type":"string"}',
  "critic.md": "---\nname: critic\ndescription: Finds faults.\ntools: Read\n---\nFind faults.\n",
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

type How = Readonly<{ code?: number; run?: string; env?: Readonly<Record<string, string>>; says?: RegExp }>;

/** Runs an example as it stands, except that `run_4k2x` is the run of this place; each part of `a && b` and `a || b` by itself. */
async function does(at: Place, line: string, { code = 0, run = "nightly", env = {}, says }: How = {}): Promise<Ended> {
  ran.add(line);
  let last: Ended | undefined;
  for (const part of line.split(/ (?:&&|\|\|) /)) {
    const [, before = "", own = "", file] =
      /^(git diff \| |OLLAMA_HOST=\S+ )?(?:eval "\$\()?(.*?)(?:\)")?(?: > (\S+))?$/.exec(part) ?? [];
    const words = wordsOf(own.replaceAll("run_4k2x", run)) ?? [];
    const input = before.startsWith("git") ? execFileSync("git", ["diff"], { cwd: at.workspace, encoding: "utf8" }) : "";
    last = await at.run(words.slice(1), { env, input, shared: true });
    const { stdout, stderr } = last;
    expect({ part, code: last.code, said: last.code === code ? "" : stderr + stdout }).toEqual({ part, code, said: "" });
    if (file !== undefined && !file.startsWith("~")) writeFileSync(join(at.workspace, file), stdout);
  }
  if (says) expect(`${last?.stdout}${last?.stderr}`, line).toMatch(says);
  return last!;
}

async function all(at: Place, lines: string, how: How = {}): Promise<void> {
  for (const line of lines.trim().split("\n")) await does(at, line.trim(), how);
}

test("modes and plans", async () => {
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
     subcrew race --agents explore --models fast,balanced "..."
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
});

test("agents, settings and trust", async () => {
  const at = project();
  mkdirSync(join(at.home, ".claude"), { recursive: true });
  await all(
    at,
    `subcrew trust
     subcrew trust --yes
     subcrew agents --all
     subcrew agents --json
     subcrew agents new critic
     subcrew agents new my-explore --from explore --user
     subcrew agents show claude:reviewer
     subcrew agents convert critic.md --to gemini --out .
     subcrew agents disable designer
     subcrew agents enable designer
     subcrew agents eject reviewer
     subcrew agents explain explore
     subcrew agents explain explore --as-tool
     subcrew agents explain explore --model fast --tools read_file
     subcrew agents lint --fix .claude/agents
     subcrew agents lint --format sarif > agents.sarif
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
     subcrew config get limits
     subcrew permissions
     subcrew init
     subcrew init --yes
     subcrew models
     OLLAMA_HOST=gpu:11434 subcrew models --json
     subcrew doctor
     subcrew doctor --json
     subcrew mcp --setup claude-code
     subcrew mcp import ./servers.json --yes
     subcrew mcp import claude
     subcrew mcp list --json
     subcrew mcp logout sentry
     subcrew mcp trust github`,
  );
});

test("every example was run here, or is listed with the reason", async () => {
  const below = (command: CliCommand): string[] => [
    ...command.examples.map(([line]) => line),
    ...Object.values(command.commands ?? {}).flatMap(below),
  ];
  const rows = Object.values(commands).filter(({ hidden }) => !hidden);
  const examples = new Set((await Promise.all(rows.map(async ({ load }) => below(await load())))).flat());
  const listed = new Set([...ran, ...Object.keys(elsewhere)]);
  expect([...examples].filter((line) => !listed.has(line))).toEqual([]);
  expect([...listed].filter((line) => !examples.has(line))).toEqual([]);
});
