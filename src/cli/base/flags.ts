import { Option } from "commander";
import { isolationKinds } from "../../core/plan/isolation.ts";
import { parseRetryFlag, type RetryConfig } from "../../core/plan/retry.ts";
import { exhaustedKinds } from "../../core/plan/review.ts";
import type { RunParameters } from "../../core/run/run-parameters.ts";
import { CrewError } from "../../core/schema/error.ts";
import { decimalIn } from "../../core/schema/decimal.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { parseSize } from "../../core/schema/size.ts";
import { parseRunnerName, type RunnerName, runnerWords } from "../../core/vocabulary/runner-name.ts";
import { type PermissionFlags, permissionOptions } from "./permission-flags.ts";

/** The run options that have a flag of the same name. */
export type OptionFlags = Omit<RunParameters, "budget" | "origin">;

/** The values of all flags of all commands. A command gets only the values of the flags that it offers. */
export type Flags = PermissionFlags &
  OptionFlags &
  Readonly<{
    input?: string;
    plan?: string;
    image?: readonly string[];
    withNetwork?: boolean;
    agents?: readonly string[];
    models?: readonly string[];
    acceptSchema?: string;
    reviewExhausted?: (typeof exhaustedKinds)[number];

    model?: string;
    thinking?: string;
    tools?: readonly string[];
    schema?: string;
    retry?: RetryConfig;
    maxTurns?: number;
    maxMemory?: number;
    runner?: RunnerName;
    isolation?: (typeof isolationKinds)[number];
    isolationDirty?: boolean;
    isolationKeep?: boolean;
    writes?: readonly string[];
    /** The task whose conversation the new run continues from: as typed, then as `run/path`. */
    fork?: string;
    /** The agent of the task that `fork` names. No flag sets it. */
    forkAgent?: string;
    maxTime?: number;
    maxRunTime?: number;
    maxRunTurns?: number;
    maxUsd?: number;
    maxTokens?: number;
    maxToolCalls?: number;
    maxSpawns?: number;

    context?: string;
    contextFile?: readonly string[];
    gitContext?: boolean;

    cwd?: string;
    yes?: boolean;
    trust?: boolean;

    json?: boolean;
    deltas?: boolean;
    quiet?: boolean;
    color: boolean;

    /** Flags of `agents`, `skills`, `commands`, `trust`. */
    preset?: string;
    agentScope?: string;
    format?: string;
    dialect?: string;
    to?: string;
    out?: string;
    check?: boolean;
    fix?: boolean;
    user?: boolean;
    project?: boolean;
    from?: string;
    raw?: boolean;
    revoke?: boolean;
    list?: boolean;
    agent?: string;

    retryFailed?: boolean;
    force?: boolean;
    limit?: number;

    bg?: boolean;
    answerTimeout?: number;
    placementTimeout?: number;
    allowFailed?: boolean;
    /** The flags of `chat`. */
    resume?: string | true;
    commands?: boolean;

    all?: boolean;
    /** The flags of `show` and `mcp`. */
    full?: boolean;
    markdown?: boolean;
    html?: boolean;
    pager?: boolean;
    /** The flags of `ps`. */
    here?: boolean;
    status?: readonly string[];
    /** The flags of `logs`. */
    verbose?: boolean;
    /** The flags of `plan`. */
    mermaid?: boolean;
    /** How the result is printed. */
    output?: OutputFormat;
    outputFile?: string;
    outputSchema?: string;
    /** The flags of `diff`. */
    stat?: boolean;
    follow?: boolean;
    timeout?: number;
    /** The flags of `wait`. */
    until?: "ended" | "parked" | "question";
    interrupt?: boolean;
    olderThan?: number;
    maxSize?: number;
    dryRun?: boolean;
    unfinished?: boolean;
    always?: boolean;
    scope?: "run" | "project" | "user";
    speed?: number;
    /** Flags of `top` and `watch`. */
    notify?: "bell" | "osc9";

    /** The flags of `web`. */
    open?: boolean;
    shareReadonly?: boolean;

    /** The flags of `init`. */
    hosts?: readonly string[];

    /** The flags of `mcp`. */
    setup?: string;
    http?: boolean;
    as?: readonly string[];
    allRuns?: boolean;
    answerCalls?: boolean;
    host?: string;
    port?: number;
    tokenFile?: string;
    browser?: boolean;

    /** The flags of `a2a`. */
    publicCards?: boolean;
    url?: string;

    /** The flag of every command. */
    engine?: string;
    /** The flags of `engine dev`. */
    data?: string;
    /** The flags of `engine limit`. */
    atOnce?: number;
    requests?: number;
    tokens?: number;
    off?: boolean;
    /** The flags of `worker`. */
    slots?: number;
    workspaces?: readonly string[];
    scratch?: boolean;
    fetch?: boolean;
    shared?: boolean;
    poll?: number;
    grace?: number;
    coordinate?: boolean;

    record?: string;
    replay?: string;
    replayUntil?: number;
  }>;

/** The formats in which a result can be printed. */
export const outputFormats = ["text", "markdown", "json", "stream-json", "junit"] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Flags that read the input of a run from a file or standard input. */
export const inputOption = (): Option =>
  new Option("--input <file>", "read the work from a JSON or YAML file; - for standard input").helpGroup("Work:");

export const agentsOption = (): Option =>
  new Option("--agents <names>", "agents that compete, comma-separated").argParser(commaList).helpGroup("Work:");

export const reviewExhaustedOption = (): Option =>
  new Option("--review-exhausted <what>", "when no review round approves the work: accept the last version, or fail")
    .choices([...exhaustedKinds])
    .helpGroup("Work:");

export const modelsOption = (): Option =>
  new Option("--models <names>", "models that compete, comma-separated").argParser(commaList).helpGroup("Work:");

export const acceptSchemaOption = (): Option =>
  new Option("--accept-schema <file>", "only an answer that matches this JSON Schema can win").helpGroup("Work:");

export const planOption = (): Option =>
  new Option("--plan <file>", "run this plan (JSON or YAML), as `subcrew plan` prints one").helpGroup("Work:");

export const schemaOption = (whose: string): Option =>
  new Option("--schema <file>", `JSON Schema that ${whose} must match: a file, or inline JSON`).helpGroup(
    "Each task (its own settings take precedence):",
  );

/** An alias of --schema that other programs use. */
const outputSchemaOption = (): Option =>
  new Option("--output-schema <file>", "the same as --schema").helpGroup(
    "Each task (its own settings take precedence):",
  );

export const jsonOption = (): Option => new Option("--json", "JSON on stdout and for errors").helpGroup("Output:");

export const colorOption = (): Option => new Option("--no-color", "no colours").helpGroup("Output:");

/** The flags of every command that runs something. */
export function runOptions(): Option[] {
  return [
    outputSchemaOption(),
    ...taskOptions(),
    ...contextOptions(),
    ...runningOptions(),
    ...permissionOptions(),
    ...budgetOptions(),
    ...recordingOptions(),
    ...outputOptions(),
  ];
}

/** Flags that record the requests to models and tools in a file, or replay them from such a file. */
function recordingOptions(): Option[] {
  return group("Recordings:", [
    new Option("--record <file>", "record the answers of models and tools in a file, without secrets"),
    new Option(
      "--replay <file>",
      "answer from a recording: needs no key and changes nothing; a request that is not in the recording fails",
    ),
    new Option("--replay-until <n>", "with --replay: after this many turns, use real models and tools").argParser(
      count("--replay-until"),
    ),
  ]);
}

function taskOptions(): Option[] {
  return group("Each task (its own settings take precedence):", [
    new Option("--model <name>", "the model, or several separated by commas; the first available one is used"),
    new Option(
      "--thinking <level>",
      "thinking level of the model: off, minimal, low, medium, high, xhigh, or a number of tokens",
    ),
    new Option("--tools <names>", 'tools the task may use, comma-separated; "" for none').argParser(commaList),
    new Option("--retry <times[xwait]>", "retry failed tasks, e.g. 3 or 3x500ms; the wait doubles").argParser(retry),
    new Option("--max-turns <n>", "how many model turns a task may take; 100 by default").argParser(
      count("--max-turns"),
    ),
    new Option("--max-time <duration>", "how long a task may work, e.g. 90s or 1h30m; 30m by default").argParser(
      spanOf("--max-time", "90s, 5m or 1h30m"),
    ),
    new Option(
      "--max-memory <size>",
      "memory limit of the task and its programs, e.g. 512MB; the task runs in a separate process",
    ).argParser(megabytes),
    new Option("--runner <who>", `where the task runs: ${runnerWords}`).argParser(runner),
    new Option(
      "--isolation <kind>",
      "worktree: work in a separate git worktree; its changes are applied at the end",
    ).choices(isolationKinds),
    new Option("--isolation-dirty", "include uncommitted changes in the worktree"),
    new Option("--isolation-keep", "keep the changes as a patch instead of applying them"),
    new Option(
      "--writes <globs>",
      "files the task may change (comma-separated); overlapping tasks run one at a time",
    ).argParser(commaList),
    new Option("--fork <run[/task]>", "start from a copy of this task's conversation"),
  ]);
}

function contextOptions(): Option[] {
  return group("Context for every task:", [
    new Option("--context <text>", "a text"),
    new Option("--context-file <file>", "add the text of a file; may be repeated").argParser(collect),
    new Option("--git-context", "add branch and status of the git repository"),
    new Option("--no-project-instructions", "do not give agents AGENTS.md, CLAUDE.md and GEMINI.md"),
  ]);
}

/** The flags about executing a run; `resume` offers them, too. */
export function runningOptions(): Option[] {
  return group("The run:", [
    new Option("--cwd <folder>", "the folder to work in"),
    new Option("--trust", "trust the agents of this project for this run"),
    new Option("--concurrency <n>", "how many tasks run at once (default: 8)").argParser(count("--concurrency")),
    new Option("--name <name>", "name of the run"),
    new Option("--strict", "a placeholder that refers to nothing is an error"),
    new Option(
      "--yes",
      "answer approvals and permission questions with yes, each once; deny rules, secret and protected paths stay closed",
    ),
    new Option("--reuse", "use results of earlier runs where agent, input, model, tools and files are the same"),
    new Option("--bg", "run in the background; survives closing the terminal; its questions wait in `subcrew inbox`"),
    new Option("--unattended", "do not wait for answers: a task that has to ask fails, also with --bg"),
    new Option("--answer-timeout <duration>", "how long a question waits for its answer (default: for ever)").argParser(
      spanOf("--answer-timeout", "10m"),
    ),
    new Option("--priority <1-9>", "with an engine: tasks of runs with a lower number are served first (default: 5)")
      .argParser(count("--priority"))
      .helpGroup("Engine:"),
    new Option(
      "--placement-timeout <duration>",
      "with an engine: how long a task that may not park waits for a worker (default: 1m)",
    )
      .argParser(spanOf("--placement-timeout", "1m"))
      .helpGroup("Engine:"),
  ]);
}

/** The flags about a single task, which `agents explain` offers, too. */
export function callOptions(): Option[] {
  const kept = new Set(["--model", "--thinking", "--tools", "--max-turns"]);
  return taskOptions().filter(({ long }) => kept.has(long ?? ""));
}

/** Limits of a run and of all nested runs. `resume` offers them, too. */
export function budgetOptions(): Option[] {
  return group("Limits for the whole run:", [
    new Option("--max-usd <dollars>", "cost in dollars, where the price of the model is known").argParser(dollars),
    new Option("--max-run-turns <n>", "model turns of all tasks together").argParser(count("--max-run-turns")),
    new Option(
      "--max-run-time <duration>",
      "working time, without waiting for answers or providers, e.g. 1h",
    ).argParser(spanOf("--max-run-time", "1h")),
    new Option("--max-tokens <n>", "tokens, input and output").argParser(count("--max-tokens")),
    new Option("--max-tool-calls <n>", "tool calls").argParser(count("--max-tool-calls")),
    new Option("--max-spawns <n>", "agents that agents start").argParser(count("--max-spawns")),
    new Option("--max-depth <n>", "how deep agents may start agents (default: 2)").argParser(count("--max-depth")),
    new Option(
      "--on-limit <what>",
      `at one of these limits: tasks wait until the limit is raised, or end (default: ${PARKS})`,
    ).choices(["park", "end"]),
    new Option(
      "--on-provider-fault <what>",
      `when a provider refuses the key, is out of quota or down: tasks wait, or fail (default: ${PARKS})`,
    ).choices(["park", "fail"]),
  ]);
}

const PARKS = "park at a terminal and with --bg";

/** Output flags that `resume` offers, too. */
export function outputOptions(): Option[] {
  return group("Output:", [
    new Option("-o, --output <format>", "output format; stream-json: events, then the result").choices(outputFormats),
    new Option("--output-file <file>", "write the result to a file instead of standard output"),
    new Option("--json", "the same as -o stream-json"),
    new Option("--deltas", "with stream-json: also text as it is generated"),
    new Option("--quiet", "no progress and no summary"),
    colorOption(),
  ]);
}

const group = (title: string, options: readonly Option[]): Option[] => options.map((option) => option.helpGroup(title));

/** Parses a comma-separated list; blanks around the names are removed. */
export function commaList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function retry(text: string): RetryConfig {
  const [, before = "", wait = ""] = /^(\d+[x,])(.*)$/.exec(text.trim()) ?? [];
  requireUnit("--retry", wait, ["ms", "s"], before);
  const parsed = parseRetryFlag(text);
  if (parsed) return parsed;
  throw new CrewError(
    "BAD_INPUT",
    `--retry cannot be "${text}".`,
    "Give the number of attempts and the first wait, as in --retry 3x500ms.",
  );
}

function runner(text: string): RunnerName {
  const name = parseRunnerName(text);
  if (name !== undefined) return name;
  throw new CrewError("BAD_INPUT", `--runner cannot be "${text}".`, `Give one of ${runnerWords}.`);
}

/** Parses a duration that is longer than zero. */
export function spanOf(flag: string, example: string): (text: string) => number {
  const unit = /[a-z]+$/.exec(example)?.[0] ?? "s";
  return (text) => {
    requireUnit(flag, text, ["s", unit === "s" ? "m" : unit]);
    const ms = parseDuration(text);
    if (ms !== undefined && ms > 0) return ms;
    throw new CrewError("BAD_INPUT", `${flag} cannot be "${text}".`, `Give a duration, as in ${flag} ${example}.`);
  };
}

/** Parses a size such as `500MB` into bytes. */
export function sizeFlag(flag: string, example: string): (text: string) => number {
  return (text) => {
    requireUnit(flag, text, ["MB", "GB"]);
    const bytes = parseSize(text);
    if (bytes !== undefined) return bytes;
    throw new CrewError("BAD_INPUT", `${flag} cannot be "${text}".`, `Give a size, as in ${flag} ${example}.`);
  };
}

/** Refuses a number without a unit, except zero, with its two likely readings. `before`: the part of the value before the number. */
function requireUnit(flag: string, text: string, [one, other]: readonly [string, string], before = ""): void {
  const number = text.trim();
  if (!/^\d+(?:\.\d+)?$/.test(number) || number === "0") return;
  throw new CrewError(
    "BAD_INPUT",
    `${flag} ${before}${number} has no unit.`,
    `Write ${flag} ${before}${number}${one} or ${flag} ${before}${number}${other}.`,
  );
}

/** Parses a memory limit into megabytes. */
function megabytes(text: string): number {
  const size = sizeFlag("--max-memory", "512MB")(text) / 1e6;
  if (size > 0 && size <= LARGEST_COUNT) return size;
  throw new CrewError("BAD_INPUT", `--max-memory cannot be "${text}".`, "Give a size, as in --max-memory 512MB.");
}

export function dollars(text: string): number {
  const amount = decimalIn(text.trim().replace(/^\$/, ""));
  if (amount !== undefined && amount > 0) return amount;
  throw new CrewError(
    "BAD_INPUT",
    `--max-usd cannot be "${text}".`,
    "Give an amount in dollars, as in --max-usd 0.50.",
  );
}

/** Parses a whole number from 1 to 999999999. */
export function count(flag: string): (text: string) => number {
  return (text) => {
    const digits = /^\d+$/.exec(text.trim())?.[0];
    const number = Number(digits ?? 0);
    if (number >= 1 && number <= LARGEST_COUNT) return number;
    const most = number > LARGEST_COUNT ? ` up to ${LARGEST_COUNT}` : "";
    throw new CrewError("BAD_INPUT", `${flag} cannot be "${text}".`, `Give a whole number${most}, as in ${flag} 4.`);
  };
}

const LARGEST_COUNT = 999_999_999;

/** Parses a port number; 0 selects a free port. */
export function portNumber(text: string): number {
  const number = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw new CrewError(
    "BAD_INPUT",
    `--port cannot be "${text}".`,
    "Give a number up to 65535, as in --port 7070; 0 means a free port.",
  );
}
