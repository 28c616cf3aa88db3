import type { CaseFile } from "./harness.ts";

/** A case in which ours differs from the recorded behaviour, and what says so; `ours` is the value to expect instead. */
export type Deviation = Readonly<{ file: CaseFile; area: string; name: string; why: string; ours?: unknown }>;

/** Every deviation there is. */
export const deviations: readonly Deviation[] = [
  {
    file: "003-pi-parallel",
    area: "tool-mode",
    name: "parallel: mixed success",
    why: "SPEC 2, 003: a failed task shows its error",
    ours: {
  "text": "## Parallel: 1/2 succeeded\n\n### ✓ A\n\nfine\n\n---\n\n### ✗ B\n\nnope",
  "isError": false,
  "mode": "parallel",
  "winner": null,
  "results": [
    {
      "id": "0-A",
      "exitCode": 0
    },
    {
      "id": "1-B",
      "exitCode": 1
    }
  ],
  "prompts_sent": [
    {
      "id": "0-A",
      "task": "a",
      "model": null,
      "tools": null
    },
    {
      "id": "1-B",
      "task": "b",
      "model": null,
      "tools": null
    }
  ]
},
  },
  {
    file: "003-pi-parallel",
    area: "tool-mode",
    name: "team failure reports blocked tasks",
    why: "SPEC 2, 003: a failed task shows its error",
    ours: {
  "text": "## Team: 0/2 tasks succeeded\n\n**Objective:** Ship it\n\n**Blocked tasks:** b (dependencies failed)\n\n### ✗ [dev] dev:a\n\nnope",
  "isError": false,
  "mode": "team",
  "winner": null,
  "results": [
    {
      "id": "a",
      "exitCode": 1
    }
  ],
  "prompts_sent": [
    {
      "id": "a",
      "task": "a",
      "model": null,
      "tools": null
    }
  ]
},
  },
  {
    file: "000-omp",
    area: "plan-mode",
    name: "effective agent actually used (caveat fixed)",
    why: "SPEC 000-56: the restricted agent is the one that runs; DESIGN 5: what it may use is in its file, so nothing is added",
    ours: { tools: ["read_file"], spawns: "", prompt_prefix: "plan-mode text + blank line + SP" },
  },
  {
    file: "000-omp",
    area: "output-ids",
    name: "sequential prefixes",
    why: "DESIGN, interfaces: a task is <run>/<path>; the second batch of a task is told apart by the path",
    ours: { batch: ["lead/Auth", "lead/Api"], then: "lead.2/Auth", child: "lead/Auth/Sub" },
  },
  {
    file: "000-omp",
    area: "output-ids",
    name: "verbatim names, -2 on repeat (later upstream)",
    why: "DESIGN, interfaces: a task is <run>/<path>; the second batch of a task is told apart by the path",
    ours: { ids: ["lead/Anna", "lead.2/Anna", "lead.3/Anna", "lead.3/Bob"], child: "lead/Anna/Bob" },
  },
  {
    file: "000-omp",
    area: "schema-precedence",
    name: "later upstream puts the call first",
    why: "DESIGN 7: agent, then call, then parent",
    ours: "A",
  },
  {
    file: "000-omp",
    area: "limits",
    name: "soft request budget (later upstream)",
    why: "DESIGN 6: a limit gives one grace turn to hand in; there is no notice before it",
    ours: { steer_notices: 0 },
  },
  {
    file: "000-omp",
    area: "limits",
    name: "output limits and env",
    why: "SPEC C16: 2000 characters inline, 50 KB and 2000 lines stored",
    ours: { MAX_OUTPUT_BYTES: 51_200, MAX_OUTPUT_LINES: 2000, summary_inline_chars: 2000, task_id_max: 32 },
  },
  {
    file: "001-pegasus",
    area: "spawn-tool",
    name: "custom file-defined type must be spawnable",
    why: "SPEC 2, 001: the enum is made from what was found",
    ours: { accepted: true },
  },
  {
    file: "002-mycode",
    area: "task-input",
    name: "unknown type",
    why: "SPEC C26: refused with the list of those there are; agents of the user are among them",
    ours: { refused: "Unknown subagent type: Ninja. Available: Explore, Plan, Bash, general-purpose" },
  },
  {
    file: "002-mycode",
    area: "summary",
    name: "no messages",
    why: "DESIGN 6: an empty result is a failure with its own code",
    ours: { fault: "EMPTY" },
  },
  {
    file: "002-mycode",
    area: "summary",
    name: "general-purpose joins all assistant texts",
    why: "SPEC C2: an agent that ends with text ends with its last words, whatever its type",
    ours: { result_length: 3, result: "two" },
  },
  {
    file: "002-mycode",
    area: "depth",
    name: "default maximum",
    why: "SPEC C1: two levels by default",
    ours: { maxDepth: 2 },
  },
  {
    file: "002-mycode",
    area: "depth",
    name: "nested Task calls must carry depth",
    why: "SPEC 2, 002: the depth is counted, so the limit holds",
    ours: { expected: "4th level refused" },
  },
  {
    file: "001-pegasus",
    area: "persistence-layout",
    name: "restart recovery marks pending as failed",
    why: "DESIGN 16: what nobody works on any more was interrupted and can be resumed; it has not failed",
    ours: { status: "interrupted" },
  },
  {
    file: "001-pegasus",
    area: "persistence-layout",
    name: "files",
    why: "DESIGN, State: one folder per run with a journal of checksummed lines",
    ours: {
      journal: "runs/<id>/journal.jsonl",
      line_fields: ["crc", "epoch", "event"],
    },
  },
  {
    file: "003-pi-parallel",
    area: "cross-ref-team",
    name: "empty output keeps placeholder",
    why: "SPEC C4: one substituter for every mode; an empty output is said to be empty",
    ours: "(no output from task)",
  },
  {
    file: "003-pi-parallel",
    area: "cross-ref-team",
    name: "name starting with digit is read as index",
    why: "SPEC C4: the exact id first, a position only for a reference of digits alone",
    ours: "F",
  },
  {
    file: "003-pi-parallel",
    area: "dag-execution",
    name: "requiresApproval without handler auto-approves",
    why: "DESIGN, interfaces: a gate with nobody to answer fails with NEEDS_ANSWER and never approves itself",
    ours: {
      run_order: ["plan"],
      statuses: { plan: "failed", impl: "blocked" },
      iterations: {},
      final_outputs: { plan: "out", impl: null },
      max_parallel: 1,
      aborted: false,
      result_ids: ["plan"],
    },
  },
  {
    file: "003-pi-parallel",
    area: "dag-execution",
    name: "transitive dependents of a failure (a fails; b<-a; c<-b)",
    why: "SPEC 2, 003: nothing that hangs on a failure stays pending (DESIGN: skipped transitively)",
    ours: {
      run_order: ["a"],
      statuses: { a: "failed", b: "blocked", c: "blocked" },
      iterations: {},
      final_outputs: { a: "", b: null, c: null },
      max_parallel: 1,
      aborted: false,
      result_ids: ["a"],
    },
  },
  {
    file: "003-pi-parallel",
    area: "tool-mode",
    name: "chain: dollar patterns in previous output must stay literal",
    why: "SPEC C4: what is put in is literal",
    ours: {
      text: "final",
      isError: false,
      mode: "chain",
      winner: null,
      results: [
        { id: "1-step_1", exitCode: 0 },
        { id: "2-step_2", exitCode: 0 },
      ],
      prompts_sent: [
        { id: "1-step_1", task: "a", model: null, tools: null },
        { id: "2-step_2", task: "got: price $& and $$5", model: null, tools: null },
      ],
    },
  },
  {
    file: "003-pi-parallel",
    area: "tool-mode",
    name: "race: all fail throws aggregate",
    why: "SPEC C21: modes never throw, they give an error result with what there is",
    ours: {
      text: "All race models failed:\n[m1]: nope\n[m2]: nope",
      isError: true,
      mode: "race",
      winner: null,
      results: [
        { id: "m1", exitCode: 1 },
        { id: "m2", exitCode: 1 },
      ],
      prompts_sent: [
        { id: "m1", task: "t", model: "m1", tools: null },
        { id: "m2", task: "t", model: "m2", tools: null },
      ],
    },
  },
  {
    file: "003-pi-parallel",
    area: "tool-mode",
    name: "parallel: failed task shows its error",
    why: "SPEC 2, 003: a failed task shows its error",
    ours: {
      text: "## Parallel: 0/1 succeeded\n\n### ✗ B\n\nnope",
      isError: false,
      mode: "parallel",
      winner: null,
      results: [{ id: "0-B", exitCode: 1 }],
      prompts_sent: [{ id: "0-B", task: "b", model: null, tools: null }],
    },
  },
  {
    file: "003-pi-parallel",
    area: "output-truncate",
    name: "60KB single line",
    why: "SPEC C16: cut to exactly the limit, not by halving",
    ours: { truncated: true, length: 51_200, first20: "x".repeat(20), last5: "xxxxx" },
  },
  {
    file: "003-pi-parallel",
    area: "git-context",
    name: "schema text says true includes diffStats but code gives branch+status only",
    why: "SPEC C28: true means branch and status; diffStats has to be asked for",
    ours: "## Git Context\n\n**Branch:** main\n\n**Git Status:** (no changes)",
  },
  {
    file: "003-pi-parallel",
    area: "workspace",
    name: "named",
    why: "DESIGN, first page: a project speaks of subcrew throughout, so the folder is called after it",
    ours: {
      prefix: "subcrew-my-custom-team-",
      tasksDir: "tasks",
      artifactsDir: "artifacts",
      exists: true,
      cleaned: true,
    },
  },
  {
    file: "003-pi-parallel",
    area: "workspace",
    name: "unnamed",
    why: "DESIGN, first page: a project speaks of subcrew throughout, so the folder is called after it",
    ours: { prefix: "subcrew-team-<ms>-", tasksDir: "tasks", artifactsDir: "artifacts", exists: true, cleaned: true },
  },
  {
    file: "000-omp",
    area: "frontmatter",
    name: "fallback skips hyphenated keys and indented lines",
    why: "DESIGN 4: a repair comes before the line reader, so that nothing is left out",
    ours: { frontmatter: { name: "a", "thinking-level": "high nested: x", description: "[bad" }, body: "B" },
  },
  {
    file: "000-omp",
    area: "agent-fields",
    name: "empty tools list means unrestricted",
    why: "SPEC C9: an empty list means the finish tool only",
    ours: { name: "a", description: "d", tools: ["submit_result"] },
  },
  {
    file: "000-omp",
    area: "agent-fields",
    name: "spawns list containing star is a plain list",
    why: "SPEC section 2: a list with the star in it is the star",
    ours: { name: "a", description: "d", spawns: "*" },
  },
  {
    file: "001-pegasus",
    area: "subagent-file",
    name: "YAML list for tools loses the agent upstream",
    why: "SPEC section 2: a list is read as well as words with commas",
    ours: { name: "t", description: "d", tools: ["read_file", "notify"], prompt: "Body.", source: "builtin" },
  },
  {
    file: "001-pegasus",
    area: "subagent-file",
    name: "CRLF file treated as having no frontmatter upstream",
    why: "SPEC section 2: line ends do not matter",
    ours: { name: "t", description: "d", tools: ["*"], prompt: "Body", source: "builtin" },
  },
  {
    file: "001-pegasus",
    area: "subagent-file",
    name: "name differs from directory: upstream accepts although the document says it must match",
    why: "SPEC 001-05: the agent is loaded, and the difference is reported",
    ours: { name: "othername", description: "d", tools: ["*"], prompt: "Body.", source: "user" },
  },
  {
    file: "001-pegasus",
    area: "subagent-file",
    name: "frontmatter needs newline after closing dashes upstream",
    why: "SPEC section 2: a file may end at the closing dashes",
    ours: { name: "t", description: "d", tools: ["*"], prompt: "", source: "builtin" },
  },
  {
    file: "001-pegasus",
    area: "subagent-registry",
    name: "unknown type falls back to ALL tools upstream",
    why: "SPEC C26: an unknown type is refused",
    ours: null,
  },
  {
    file: "002-mycode",
    area: "custom-agent-md",
    name: "Claude Code style keys are refused upstream",
    why: "SPEC C11: keys are known in every spelling, and missing ones have defaults",
    ours: {
      parsed: {
        name: "cc",
        description: "d",
        allowedTools: ["Read", "Grep"],
        defaultModel: "sonnet",
        systemPrompt: "P",
      },
      valid: true,
    },
  },
  {
    file: "002-mycode",
    area: "custom-agent-precedence",
    name: "built-in names cannot be overridden upstream",
    why: "SPEC C6: files come before bundled agents; the setting protectBundled gives 002's rule",
    ours: { winner: "file" },
  },
  {
    file: "002-mycode",
    area: "agent-file-defaults",
    name: "defaults when fields are missing",
    why: "SPEC C14: 30 turns when nobody says otherwise",
    ours: { name: "FileReader", model: "inherit", maxTurns: 30, permissionMode: "default", tools: "all" },
  },
  {
    file: "003-pi-parallel",
    area: "agent-inheritance",
    name: "unknown base aborts the whole discovery",
    why: "SPEC C27: an error of that agent only",
    ours: {
      kid: 'Base agent "ghost" not found',
      fine: { resolvedTools: ["read"], resolvedModel: null, resolvedThinking: null, systemPrompt: "p-fine" },
    },
  },
  {
    file: "003-pi-parallel",
    area: "agent-inheritance",
    name: "three cycle",
    why: "SPEC C27: an error of these agents only",
    ours: {
      a: "Circular inheritance detected: a -> b -> c -> a",
      b: "Circular inheritance detected: a -> b -> c -> a",
      c: "Circular inheritance detected: a -> b -> c -> a",
    },
  },
  {
    file: "003-pi-parallel",
    area: "agent-inheritance",
    name: "two cycle",
    why: "SPEC C27: an error of these agents only",
    ours: { a: "Circular inheritance detected: a -> b -> a", b: "Circular inheritance detected: a -> b -> a" },
  },
  {
    file: "003-pi-parallel",
    area: "agent-inheritance",
    name: "child with own thinking leaves resolvedThinking unset",
    why: "SPEC 003-23: resolved values are those that count",
    ours: {
      base: { resolvedTools: null, resolvedModel: null, resolvedThinking: "low", systemPrompt: "p-base" },
      kid: { resolvedTools: null, resolvedModel: null, resolvedThinking: "high", systemPrompt: "p-kid" },
    },
  },
  {
    file: "003-pi-parallel",
    area: "agent-discovery",
    name: "empty tools string becomes undefined",
    why: "SPEC C9: an empty value means the finish tool only",
    ours: {
      agents: [
        {
          name: "a",
          description: "d",
          source: "project",
          tools: [],
          model: null,
          thinking: null,
          systemPrompt: "Body",
          extends: null,
        },
      ],
      projectAgentsDir: "proj/.pi/agents",
    },
  },
  {
    file: "004-gemini",
    area: "agent-file",
    name: "tools as CSV string rejected upstream",
    why: "SPEC C11 and FORMATS 1.7: words with commas are a list everywhere",
    ours: {
      ok: true,
      dto: [{ kind: "local", name: "a", description: "d", tools: ["read_file", "glob"], system_prompt: "Body" }],
    },
  },
  {
    file: "004-gemini",
    area: "agent-file",
    name: 'the example printed in the seed document is rejected by the real loader (system_prompt key, tool "grep")',
    why: "DESIGN 3 and SPEC C10: the document's own keys are known; the key is the prompt",
    ours: {
      ok: true,
      dto: [
        {
          kind: "local",
          name: "my-agent",
          description: "Agent description",
          display_name: "My Agent",
          tools: ["read_file", "grep"],
          system_prompt: "You are an agent specialized in...",
          model: "gemini-2.0-flash",
          temperature: 0.1,
          max_turns: 20,
          timeout_mins: 10,
        },
      ],
    },
  },
  {
    file: "004-gemini",
    area: "tool-name-valid",
    name: "grep",
    why: "SPEC C3: every other spelling is an alias",
    ours: true,
  },
  {
    file: "004-gemini",
    area: "agent-file",
    name: "invalid YAML",
    why: "SPEC C8: an AgentLoadError with the place; the words in between are those of our parser",
    ours: {
      ok: false,
      error_class: "AgentLoadError",
      error: [
        "Failed to load agent from <file>: YAML frontmatter parsing failed: deficient indentation (2:1)",
        "",
        " 1 | name: [invalid yaml",
        " 2 | ",
        "-----^",
      ].join("\n"),
    },
  },
  {
    file: "004-gemini",
    area: "built-in",
    name: "generalist",
    why: "SPEC 004-15 and 004-16 name the investigator and the help agent; what this one does, general does here",
    ours: null,
  },
  {
    file: "004-gemini",
    area: "built-in",
    name: "codebase_investigator",
    why: "SPEC section 4, system 004, item 1: the prompt stands for the only input, so nobody has to give it",
    ours: {
      inputs: { objective: "optional string" },
      outputName: "report",
      output_fields: ["SummaryOfFindings", "ExplorationTrace", "RelevantLocations[FilePath,Reasoning,KeySymbols]"],
      tools: ["list_directory", "read_file", "glob", "search_file_content"],
      maxTurns: 15,
      maxTimeMinutes: 5,
      temperature: 0.1,
    },
  },
  {
    file: "002-mycode",
    area: "permission-check",
    name: "plan WebFetch",
    why: "SPEC C24: what leaves the machine is asked about in every mode but bypass, and plan is never wider than default",
    ours: "prompt",
  },
  {
    file: "002-mycode",
    area: "background-store",
    name: "limits",
    why: "DESIGN, Interfaces, State: a run is kept until `subcrew gc`, by default for seven days; outputs are kept whole",
    ours: { max_concurrent: 10, error: "Maximum concurrent tasks (10) reached" },
  },
  {
    file: "002-mycode",
    area: "background-store",
    name: "id format",
    why: "DESIGN, Interfaces, Ids: a run is run_ and twelve letters or digits, whoever it is handed to",
    ours: { id_regex: "^run_[a-z0-9]{12}$" },
  },
  {
    file: "002-mycode",
    area: "background-store",
    name: "layout",
    why: "DESIGN, Interfaces, State: one folder per run below $SUBCREW_HOME with its journal; no registry, which could disagree",
    ours: { files: ["journal.jsonl", "output.md", "outputs", "request.json", "worker.log"] },
  },
];
