// @ts-check

const execution = [
  ...["execution", "cancel-task", "lease-waiting", "approval", "messages", "faults-003", "review", "spawn-policy"].map(
    (name) => `test/runtime/execute/${name}.test.ts`,
  ),
  "test/runtime/run/stops.test.ts",
  "test/runtime/run/crash.test.ts",
  "src/runtime/execute/delegate.test.ts",
];
const turns = ["loop", "results", "events", "schemas", "limits"].map((name) => `test/runtime/loop/${name}.test.ts`);
const rights = ["modes", "bounds", "calls", "delegation-rights"].map((name) => `test/runtime/access/${name}.test.ts`);
const calls = [["src/runtime/loop/call-tool.test.ts"], ["test/conformance/permissions.test.ts", ...rights, ...turns]];
const judged = ["permissions", "shell-policy"].map((name) => `test/conformance/${name}.test.ts`);
const assigned = [
  "test/runtime/task/prompts.test.ts",
  "test/runtime/task/fork.test.ts",
  ...rights,
  ...turns,
  "test/models/registry/crew.test.ts",
];
const journal = ["journal", "journal-disk", "journal-batches", "journal-damage", "read-journal", "folder-store"].map(
  (name) => `src/runtime/store/${name}.test.ts`,
);
const resuming = [
  "test/runtime/resume",
  "test/runtime/run/one-task.test.ts",
  "test/runtime/execute/approval.test.ts",
  "test/facades/subagent-task.test.ts",
  "test/crew/runs.test.ts",
];

/**
 * The central files. For each: the tests that run first, and those that run if the first ones notice nothing. Suites that
 * start the built command do not see a change of a source file.
 */
export const suites = {
  "src/runtime/execute/execute.ts": [
    ["src/runtime/execute/execute.test.ts"],
    execution.slice(0, 4),
    [...execution.slice(4), ...resuming, "test/runtime/run/found-by-simulation.test.ts"],
  ],
  "src/runtime/execute/replay-outcomes.ts": [
    ["src/runtime/execute/execute.test.ts"],
    execution.slice(0, 4),
    [...execution.slice(4), ...resuming, "test/runtime/run/found-by-simulation.test.ts"],
  ],
  "src/core/schedule/decide.ts": [["src/core/schedule/decide.test.ts"], execution],
  "src/runtime/task/perform.ts": [
    ["src/runtime/task/perform.test.ts", "test/runtime/loop/loop.test.ts"],
    [...turns, ...resuming],
  ],
  "src/runtime/task/kept-conversations.ts": [
    ["src/runtime/task/perform.test.ts", "test/runtime/loop/loop.test.ts"],
    [...turns, ...resuming],
  ],
  "src/runtime/task/assign.ts": [
    ["assign", "assign-tools", "assign-model"].map((name) => `src/runtime/task/${name}.test.ts`),
    assigned,
  ],
  "src/runtime/task/assign-agent.ts": [["src/runtime/task/assign.test.ts"], assigned],
  "src/runtime/task/assign-tools.ts": [["src/runtime/task/assign-tools.test.ts"], [...assigned, "test/facades"]],
  "src/runtime/task/assign-access.ts": [
    ["src/runtime/task/assign-tools.test.ts"],
    [...rights, "test/tools/tools-in-a-run.test.ts", ...assigned],
  ],
  "src/runtime/task/assign-model.ts": [["src/runtime/task/assign-model.test.ts"], assigned],
  "src/runtime/task/assign-prompt.ts": [["src/runtime/task/assign.test.ts"], assigned],
  "src/runtime/loop/loop.ts": [
    ["src/runtime/loop/loop.test.ts"],
    ["src/runtime/loop", ...turns],
    ["test/runtime/resume"],
  ],
  "src/runtime/loop/agent-result.ts": [
    ["src/runtime/loop/loop.test.ts"],
    ["src/runtime/loop", ...turns],
    ["test/runtime/resume"],
  ],
  "src/runtime/loop/call-tool.ts": calls,
  "src/runtime/loop/call-order.ts": calls,
  "src/runtime/loop/run-tool.ts": calls,
  "src/runtime/loop/tool-result.ts": calls,
  "src/runtime/loop/tool-services.ts": calls,
  "src/core/policy/permit.ts": [["src/core/policy"], [...rights, "src/runtime/task/assign-tools.test.ts"]],
  "src/core/policy/judge.ts": [["src/core/policy"], rights],
  "src/core/policy/judge-call.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/judge-command.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/command-line.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/command-rule.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/policy.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/propose-rule.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/protected-paths.ts": [["src/core/policy", ...judged], rights],
  "src/core/policy/mentions.ts": [["src/core/policy/mentions.test.ts"], ["src/core/policy", ...judged]],
  "src/core/shell/runners.ts": [["src/core/policy", ...judged], rights],
  "src/formats/yaml/restrictions.ts": [
    ["src/formats/yaml/restrictions.test.ts"],
    ["src/formats/fields/markdown.test.ts", "test/conformance/002-agents.test.ts"],
  ],
  "src/runtime/store/journal.ts": [journal, resuming],
  "src/runtime/store/journal-records.ts": [
    ["src/runtime/store/journal-records.test.ts"],
    [...journal, "src/runtime/store/record-format.test.ts"],
    resuming,
  ],
  "src/runtime/store/journal-line.ts": [["src/runtime/store/journal-line.test.ts"], journal],
  "src/runtime/resume/resume-run.ts": [["src/runtime/resume/resume-run.test.ts"], resuming],
  "src/runtime/resume/continue-task.ts": [["src/runtime/resume/continue-task.test.ts"], resuming],
  "src/runtime/resume/previous-runs.ts": [["src/runtime/resume/previous-runs.test.ts"], resuming],
  "src/runtime/resume/recorded-agent.ts": [["src/runtime/resume/recorded-agent.test.ts"], resuming],
  "src/runtime/resume/recorded-run.ts": [["src/runtime/resume/project-runs.test.ts"], ["test/runtime/resume"]],
  "src/runtime/resume/project-runs.ts": [
    ["src/runtime/resume/project-runs.test.ts", "test/tools/crew/history-tools.test.ts"],
    ["test/facades"],
  ],
  "src/runtime/resume/kept-images.ts": [["src/runtime/resume/kept-images.test.ts"], resuming],
  "src/runtime/resume/reuse-results.ts": [
    ["src/runtime/resume/reuse-results.test.ts", "test/runtime/resume/reuse.test.ts"],
    resuming,
  ],
};
