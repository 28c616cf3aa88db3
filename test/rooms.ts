/** One room of `src/`: a folder that holds one concept. */
export type Room = {
  readonly holds: string;
  /** The rooms of the same top folder that it may import from. Other folders follow the import directions. */
  readonly sees: readonly string[];
};

/**
 * The rooms, and which of them each may see, from the lowest to the highest of a folder. The architecture test enforces
 * the rule, and prints this table in docs/architecture.md.
 */
export const rooms: Readonly<Record<string, Room>> = {
  "core/text": {
    holds: "plain text and JSON values: cut, quote, fence, template, diff, durations, nearest names",
    sees: [],
  },
  "core/schema": {
    holds: "errors with a code and a hint; reading unknown values; Zod, JSON Schema and JTD",
    sees: ["core/text"],
  },
  "core/secrets": {
    holds: "what is a secret and how it is redacted; which variables a child process may see",
    sees: [],
  },
  "core/shell": {
    holds: "a command line, parsed: its commands, whether they only read, what wraps them",
    sees: ["core/text"],
  },
  "core/vocabulary": {
    holds: "the words of files and flags: names of tools, models, runners and delegation tools, limits, tiers",
    sees: ["core/text"],
  },
  "core/rules": {
    holds: "permission rules: globs, URL patterns, what a call is about, leases on files",
    sees: ["core/text", "core/schema", "core/vocabulary"],
  },
  "core/agent": {
    holds: "an agent: its fields, settings, inheritance, inputs; what a dialect is; skills",
    sees: ["core/text", "core/schema", "core/vocabulary", "core/rules"],
  },
  "core/policy": {
    holds:
      "may this agent make this call: rules judged (judge-call.ts), tools offered (permit.ts), permission modes, the lists of protected and of secret paths",
    sees: ["core/text", "core/shell", "core/vocabulary", "core/rules", "core/agent"],
  },
  "core/outcome": {
    holds: "how a task ended, sums of its usage and cost, what it changed",
    sees: ["core/text", "core/schema", "core/rules", "core/policy"],
  },
  "core/net": { holds: "A2A words, loopback addresses, proxies", sees: ["core/text", "core/outcome"] },
  "core/model": {
    holds: "one model turn; choosing a model; context window and compaction",
    sees: ["core/text", "core/vocabulary", "core/outcome"],
  },
  "core/plan": {
    holds: "a plan and its tasks: nodes, checks, gates, reviews, retry, isolation",
    sees: ["core/text", "core/schema", "core/vocabulary", "core/agent"],
  },
  "core/schedule": {
    holds:
      "which node may start, is skipped or is no longer needed; joins, such as who wins a race; changing a running plan; filling in references",
    sees: ["core/text", "core/schema", "core/outcome", "core/plan"],
  },
  "core/run": {
    holds: "events and their fold: state, status, result, budget, history; commands to a run",
    sees: [
      "core/text",
      "core/schema",
      "core/vocabulary",
      "core/rules",
      "core/agent",
      "core/policy",
      "core/outcome",
      "core/model",
      "core/plan",
      "core/schedule",
    ],
  },
  "core/view": {
    holds:
      "a run in words for people: rows of runs and tasks, by group, with what can be done about each; titles and progress of nodes, transcripts, costs, signs and colours, widths of text",
    sees: ["core/text", "core/outcome", "core/model", "core/plan", "core/schedule", "core/run"],
  },
  "core/delegation": {
    holds:
      "whom an agent may start: catalog, roster, spawn policy (every delegation asks it in runtime/execute/admit-plan.ts), addresses of tasks",
    sees: ["core/text", "core/vocabulary", "core/agent", "core/policy", "core/plan"],
  },
  "core/task": {
    holds: "the contracts for carrying out one task: engine, runner, tool, previews",
    sees: [
      "core/text",
      "core/schema",
      "core/vocabulary",
      "core/rules",
      "core/agent",
      "core/policy",
      "core/outcome",
      "core/model",
      "core/plan",
      "core/run",
      "core/delegation",
    ],
  },
  "core/config": {
    holds: "the settings: schema, layers, variables, what a project may narrow",
    sees: ["core/text", "core/schema", "core/vocabulary", "core/agent", "core/policy", "core/run"],
  },
  "runtime/async": { holds: "waiting: cancellation, slots, deadlines, deferred values, broadcasting", sees: [] },
  "runtime/disk": { holds: "the disk: atomic writes, locks, living processes, fault points", sees: ["runtime/async"] },
  "runtime/leases": {
    holds: "leases on the files of a workspace that all runs of this machine see",
    sees: ["runtime/async", "runtime/disk"],
  },
  "runtime/store": {
    holds: "the stores of runs: in a folder (journal, claims, commands, outputs) and in memory",
    sees: ["runtime/async", "runtime/disk", "runtime/leases"],
  },
  "runtime/ledgers": {
    holds: "what outlives runs: the memory of agents, spending, and limits of providers",
    sees: ["runtime/async", "runtime/disk"],
  },
  "runtime/files": {
    holds:
      "opening and writing inside a folder; resolving what a call touches; quarantine; secret places, which every reader and the sandbox hide",
    sees: [],
  },
  "runtime/commands": {
    holds:
      "child processes: sandbox, its read-only and hidden paths, commands in flight, watchdog, use of memory and processor, output",
    sees: ["runtime/async", "runtime/disk", "runtime/files"],
  },
  "runtime/access": {
    holds: "what one task may touch: access, approving a call, approved rules",
    sees: ["runtime/disk", "runtime/files", "runtime/commands"],
  },
  "runtime/git": {
    holds: "the repository, git context, worktrees, applying changes",
    sees: ["runtime/async", "runtime/disk", "runtime/files"],
  },
  "runtime/changes": {
    holds: "the files that a run changed: recording their versions, comparing them, undoing the changes",
    sees: ["runtime/disk", "runtime/files", "runtime/git"],
  },
  "runtime/network": {
    holds: "guarded requests, address classes, the loopback server, sign-in",
    sees: ["runtime/async", "runtime/disk", "runtime/files", "runtime/commands"],
  },
  "runtime/channel": {
    holds:
      "a task and its run at the two ends of a channel, in processes, threads or machines: messages, requests and answers; lines of a stream",
    sees: ["runtime/async"],
  },
  "runtime/loop": {
    holds:
      "one agent working: the loop of model turns and tool calls; the conversation, also rebuilt from recorded turns; limits of turns and time; finishing: the answer checked against the output schema",
    sees: ["runtime/async", "runtime/files", "runtime/access"],
  },
  "runtime/execute": {
    holds:
      "one plan: execute, nodes, waiting for files that another task may write (leases), delegation, mailbox, questions to a person",
    sees: ["runtime/async"],
  },
  "runtime/run": {
    holds: "the handle of a run and its log, detached helpers",
    sees: ["runtime/async", "runtime/execute"],
  },
  "runtime/background": {
    holds: "runs of other processes: starting, following, commanding, listing them",
    sees: ["runtime/async", "runtime/disk", "runtime/store", "runtime/commands", "runtime/git", "runtime/run"],
  },
  "runtime/resume": {
    holds:
      "resuming and continuing: the recorded run, its settings and agents; a new message to a run; reused results; the runs of a project",
    sees: ["runtime/async", "runtime/store", "runtime/loop", "runtime/background"],
  },
  "runtime/task": {
    holds: "one call: resolve the agent, assign it its tools, access, model and prompt, perform; compiling schemas",
    sees: ["runtime/async", "runtime/access", "runtime/git", "runtime/loop", "runtime/resume"],
  },
  "runtime/discovery": {
    holds: "finding agent files: places, plugins, loading, precedence, linting",
    sees: ["runtime/disk", "runtime/files"],
  },
  "runtime/settings": {
    holds: "reading the settings files; trust in a project",
    sees: ["runtime/disk", "runtime/files", "runtime/discovery"],
  },
  "runtime/cassette": {
    holds: "recording model and tool answers, and replaying them",
    sees: ["runtime/async", "runtime/disk"],
  },
  "runtime/features": {
    holds: "driving a run: the table of what it does beside executing its plan, one file for each feature",
    sees: [
      "runtime/async",
      "runtime/changes",
      "runtime/execute",
      "runtime/git",
      "runtime/ledgers",
      "runtime/run",
      "runtime/background",
      "runtime/resume",
      "runtime/cassette",
      "runtime/task",
    ],
  },
  "formats/yaml": { holds: "YAML, frontmatter, TOML and JSON, strict and repaired", sees: [] },
  "formats/fields": {
    holds: "the fields that many dialects share: tools, rules, lists, inputs, servers",
    sees: ["formats/yaml"],
  },
  "formats/dialects": { holds: "one file per dialect: agent file -> Agent", sees: ["formats/yaml", "formats/fields"] },
  formats: {
    holds: "the table of dialects; bundled agents, skills, MCP server files",
    sees: ["formats/yaml", "formats/fields", "formats/dialects"],
  },
  "formats/write": { holds: "one file per dialect: Agent -> agent file; what is lost on the way", sees: ["formats"] },
  "facades/parallel": { holds: "task graph and results as pi-parallel-agents spells them", sees: [] },
  facades: { holds: "delegation tools as other systems spell them", sees: ["facades/parallel"] },
  "tools/parts": { holds: "what the crew hands to the built-in tools; search engines", sees: [] },
  "tools/workspace": {
    holds: "what file tools share: walking, ignored files, lines, near names, writable paths",
    sees: [],
  },
  "tools/files": { holds: "read, write, edit, move, delete", sees: ["tools/workspace"] },
  "tools/search": { holds: "glob, grep and list", sees: ["tools/workspace"] },
  "tools/shell": { holds: "commands and environment variables", sees: [] },
  "tools/web": { holds: "HTTP, pages, web search", sees: ["tools/parts"] },
  "tools/memory": { holds: "notes that outlive a run", sees: ["tools/parts"] },
  "tools/data": { holds: "JSON, base64, time", sees: [] },
  "tools/crew": { holds: "todo, ask, notify, messages, skills, task list", sees: ["tools/parts"] },
  "tools/mcp": { holds: "tools of MCP servers: client, sign-in, pins", sees: [] },
  tools: {
    holds: "the table of tools; loading a module of tools",
    sees: [
      "tools/parts",
      "tools/files",
      "tools/search",
      "tools/shell",
      "tools/web",
      "tools/memory",
      "tools/data",
      "tools/crew",
    ],
  },
  "models/http": { holds: "the HTTP client for providers: connections, requests, responses as text", sees: [] },
  "models/wires": {
    holds: "protocols of providers: requests, streams, faults, the price of a turn",
    sees: ["models/http"],
  },
  "models/ai-sdk": { holds: "models of the AI SDK", sees: ["models/wires"] },
  "models/scripted": { holds: "a model whose turns are given as data", sees: ["models/wires"] },
  "models/offline": { holds: "the built-in model without a network", sees: ["models/wires"] },
  "models/registry": {
    holds: "providers, names, fallback and retry",
    sees: ["models/http", "models/wires", "models/ai-sdk", "models/scripted", "models/offline"],
  },
  "runners/process": { holds: "our loop in a child process or a thread", sees: [] },
  "runners/foreign": { holds: "foreign command-line tools and ACP agents", sees: ["runners/process"] },
  "runners/a2a": { holds: "remote A2A agents", sees: [] },
  runners: {
    holds: "the table of runners",
    sees: ["runners/process", "runners/foreign", "runners/a2a"],
  },
  "compat/omp": { holds: "agents as the functions of oh-my-pi find and describe them", sees: [] },
  "compat/pegasus": { holds: "logs of pegasus, read as the events of a run", sees: [] },
  "compat/mycode": { holds: "a subagent with the interface of gen-code", sees: [] },
  "compat/pi-parallel": { holds: "the functions of pi-parallel-agents", sees: ["compat/omp"] },
  "compat/gemini": { holds: "loading, registry, invocation and remote agents as Gemini CLI has them", sees: [] },
  doors: { holds: "the doors of the library besides index.ts", sees: [] },
  "cli/base": { holds: "commands, flags, tables, errors", sees: [] },
  "cli/terminal": {
    holds: "a person at a terminal: signals, keyboard, questions, restoring the terminal",
    sees: ["cli/base"],
  },
  "cli/screen": {
    holds: "the screen of `top` and `watch`: following runs, what keys do, opened tasks; transcripts that open",
    sees: ["cli/terminal"],
  },
  "cli/watch": {
    holds: "a run in front of a person until it ends: the answer while it is made, its keys, or plain lines",
    sees: ["cli/base", "cli/terminal", "cli/screen"],
  },
  "cli/trust": { holds: "`trust`, and asking about files that changed", sees: ["cli/base", "cli/terminal"] },
  "cli/launch": {
    holds: "commands that start runs; the process that `--bg` starts",
    sees: ["cli/base", "cli/terminal", "cli/watch", "cli/trust"],
  },
  "cli/runs": {
    holds: "commands about runs that exist",
    sees: ["cli/base", "cli/terminal", "cli/watch", "cli/launch"],
  },
  "cli/top": {
    holds: "the commands `top` and `watch`",
    sees: ["cli/base", "cli/screen", "cli/launch", "cli/runs"],
  },
  "cli/web": {
    holds: "`web`: the links to the page, its secrets, serving it",
    sees: ["cli/base", "cli/terminal", "cli/launch"],
  },
  "cli/agents": {
    holds: "commands about agents, skills and models",
    sees: ["cli/base", "cli/terminal", "cli/trust", "cli/launch"],
  },
  "cli/changes": {
    holds: "commands about the files that runs changed",
    sees: ["cli/base", "cli/runs"],
  },
  "cli/setup": {
    holds: "setting up: settings, checks of this machine, hosts",
    sees: ["cli/base", "cli/terminal", "cli/launch", "cli/agents"],
  },
  "cli/a2a": { holds: "serving A2A", sees: ["cli/base", "cli/terminal", "cli/launch"] },
  "cli/mcp": {
    holds: "serving MCP; MCP servers",
    sees: ["cli/base", "cli/terminal", "cli/launch", "cli/a2a"],
  },
  "cli/engine": {
    holds: "engines on Postgres: a server on this machine, schema, status, draining; the worker",
    sees: ["cli/base", "cli/launch"],
  },
  "cli/chat": {
    holds: "chat, in a terminal or in an editor",
    sees: [
      "cli/base",
      "cli/mcp",
      "cli/terminal",
      "cli/screen",
      "cli/watch",
      "cli/launch",
      "cli/runs",
      "cli/agents",
      "cli/changes",
      "cli/setup",
    ],
  },
  cli: {
    holds: "the table of commands",
    sees: [
      "cli/base",
      "cli/trust",
      "cli/launch",
      "cli/runs",
      "cli/changes",
      "cli/top",
      "cli/web",
      "cli/agents",
      "cli/setup",
      "cli/a2a",
      "cli/mcp",
      "cli/engine",
      "cli/chat",
    ],
  },
  modes: { holds: "one file per mode: its input becomes a plan; references between tasks", sees: [] },
  "engines/server": { holds: "a Postgres on this machine: finding its programs, starting and stopping it", sees: [] },
  "engines/postgres": {
    holds:
      "the database of an engine: connections, announcements, schema; runs, events, commands and outputs in its tables",
    sees: [],
  },
  "engines/objects": {
    holds: "large results outside of the database: in a folder, or in a bucket of a server that speaks S3",
    sees: ["engines/postgres"],
  },
  "engines/dbos": {
    holds: "DBOS: queues that give calls to workers, and the workflow that takes them",
    sees: ["engines/postgres"],
  },
  "engines/calls": {
    holds:
      "calls on their way to workers and back: placing, taking, facts, mail, answers, waits; what happens when a process dies",
    sees: ["engines/postgres"],
  },
  engines: {
    holds: "where calls and waits live: in this process, or on many machines",
    sees: ["engines/postgres", "engines/objects", "engines/calls", "engines/dbos"],
  },
  "sinks/transcript": { holds: "a run written down whole: text, Markdown, HTML", sees: [] },
  sinks: {
    holds: "a run as text or JSON lines: progress, summary, output, the text of `status`",
    sees: [],
  },
  tui: { holds: "drawing in a terminal: rows at the bottom that change, boxes of helpers", sees: [] },
  "tui/markdown": { holds: "Markdown and code as lines that fit a terminal, also while they arrive", sees: ["tui"] },
  "tui/input": { holds: "keys of a terminal, and editing a text with them", sees: ["tui"] },
  "tui/chat": {
    holds: "a conversation on a terminal: the prompt, an answer while it is made, the steps that open",
    sees: ["tui", "tui/markdown", "tui/input"],
  },
  "tui/run": {
    holds: "a run below its scrollback: the answer of its only task, or a row per task",
    sees: ["tui/markdown", "tui/chat"],
  },
  "tui/top": {
    holds:
      "the screen of `top` and `watch` as a pure function of runs and view; fields of which only changed ones are drawn",
    sees: ["tui", "tui/input"],
  },
  "web/client": { holds: "what the server tells the page, as types", sees: [] },
  "web/client/parts": {
    holds: "what the pages in the browser are made of: requests, the stream, lists, Markdown, diffs, forms",
    sees: ["web/client"],
  },
  "web/client/pages": {
    holds: "the pages in the browser, one file each",
    sees: ["web/client", "web/client/parts"],
  },
  "web/client/app": {
    holds: "the frame around the pages in the browser",
    sees: ["web/client", "web/client/parts", "web/client/pages"],
  },
  web: {
    holds: "the server of the page in the browser: sessions, the stream of changes, what the pages ask for",
    sees: ["web/client"],
  },
  "mcp/start": { holds: "what the MCP server says about itself, before the rest of it is loaded", sees: [] },
  "mcp/result": { holds: "a run as an MCP client sees it, within the bounds of a result", sees: [] },
  mcp: { holds: "the MCP server: its tools, progress, forms and tasks", sees: ["mcp/start", "mcp/result"] },
  acp: { holds: "the ACP agent for editors: sessions, updates, permission requests", sees: [] },
  a2a: { holds: "the A2A server: cards, tasks, push notifications", sees: [] },
  "crew/outfit": {
    holds: "the parts that all runs of a crew share: store or engine, tools, access rules, the world of a run",
    sees: [],
  },
  "crew/explain": { holds: "explaining an agent: what it is, may do and can reach", sees: ["crew/outfit"] },
  "crew/engine": {
    holds: "runs on an engine: the jobs of their calls, and a worker that performs jobs with what its machine has",
    sees: ["crew/outfit"],
  },
  "crew/prepare": {
    holds: "preparing a run: its parameters, agents and models, and what carries out its tasks",
    sees: ["crew/outfit", "crew/engine"],
  },
  crew: {
    holds: "parts of createCrew: its options, its settings, what it finds, a conversation as a chain of runs",
    sees: ["crew/outfit", "crew/explain", "crew/prepare"],
  },
  testing: { holds: "a provider for tests that speaks the wire formats of real ones", sees: [] },
};
