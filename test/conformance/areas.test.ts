import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { areasOf, caseFiles, faults } from "./harness.ts";

/** Where the cases of an area are run: the path of a test, or the issue that will add one. */
type Runs = Readonly<Record<string, string>>;

const pure2 = "test/conformance/002-pure.test.ts";
const pure3 = "test/conformance/003-pure.test.ts";
const engine3 = "test/conformance/003-engine.test.ts";
const agents0 = "test/conformance/000-agents.test.ts";
const runs1 = "test/conformance/001-runs.test.ts";
const agents1 = "test/conformance/001-agents.test.ts";
const agents2 = "test/conformance/002-agents.test.ts";
const agents3 = "test/conformance/003-agents.test.ts";
const a2a4 = "test/conformance/004-a2a.test.ts";
const agents4 = "test/conformance/004-agents.test.ts";
const delegation = "test/conformance/delegation.test.ts";
const loopTest = "test/conformance/loop.test.ts";
const models = "test/conformance/models.test.ts";
const runs2 = "test/conformance/002-runs.test.ts";
const durability = "test/conformance/durability.test.ts";
const commands = "test/conformance/skills.test.ts";
const bundled = "test/conformance/bundled.test.ts";
const permissions = "test/conformance/permissions.test.ts";
const surfaces = "later: surfaces";
const scaleOut = "later: scale-out";

const areas: Readonly<Record<string, Runs>> = {
  "000-omp": {
    frontmatter: agents0,
    "agent-fields": agents0,
    "thinking-level": agents0,
    "array-or-csv": agents0,
    discovery: agents0,
    "plugin-registry": agents0,
    selection: delegation,
    "spawn-policy": delegation,
    "depth-gate": delegation,
    "schema-precedence": delegation,
    "plan-mode": delegation,
    "batch-ids": delegation,
    "output-ids": delegation,
    completion: loopTest,
    "batch-prompt": delegation,
    "command-expand": commands,
    "command-discovery": commands,
    limits: delegation,
    "agent-fields-later": agents0,
  },
  "001-pegasus": {
    "subagent-file": agents1,
    "subagent-registry": agents1,
    "tool-set": bundled,
    "tool-permission": permissions,
    "spawn-tool": delegation,
    "task-context": runs1,
    resume: runs1,
    "task-fsm": runs1,
    "persistence-replay": runs1,
    "persistence-layout": runs1,
    "model-resolve": models,
    "skill-args": commands,
    "skill-description-fallback": commands,
    "skill-file": commands,
    "skill-routing": commands,
    limits: loopTest,
  },
  "002-mycode": {
    "agent-type": bundled,
    "permission-mode": permissions,
    "task-input": delegation,
    "taskoutput-input": delegation,
    "taskoutput-run": delegation,
    "background-store": runs2,
    "resume-validation": runs2,
    summary: delegation,
    depth: delegation,
    lifecycle: delegation,
    "custom-agent-md": agents2,
    "custom-agent-json": agents2,
    "custom-agent-precedence": agents2,
    "duration-format": pure2,
    "task-status-text": delegation,
    "result-text": delegation,
    "result-cache": runs2,
    "tool-list-yaml": agents2,
    "permission-check": permissions,
    "model-fallback": models,
    "progress-label": pure2,
    "agent-file-defaults": agents2,
    "continue-agent": delegation,
    fork: delegation,
  },
  "003-pi-parallel": {
    "tool-args-preview": pure3,
    "retry-decision": pure3,
    "retry-backoff": pure3,
    "retry-run": engine3,
    "dag-build": engine3,
    "dag-topological-order": engine3,
    "review-decision": pure3,
    "cross-ref-team": engine3,
    "dag-execution": engine3,
    "concurrency-map": engine3,
    race: engine3,
    "agent-inheritance": agents3,
    "settings-merge": agents3,
    "agent-list-format": pure3,
    "agent-discovery": agents3,
    context: pure3,
    "git-context": pure3,
    workspace: pure3,
    "format-tokens": pure3,
    "format-duration": pure3,
    "format-usage": pure3,
    "usage-add": pure3,
    constants: pure3,
    "task-id": pure3,
    "output-truncate": pure3,
    "tool-mode": delegation,
  },
  "004-gemini": {
    "agent-file": agents4,
    "agent-definition": agents4,
    "agent-directory": agents4,
    template: loopTest,
    "input-schema": loopTest,
    "tool-name-valid": agents4,
    "delegate-tool": delegation,
    "executor-loop": loopTest,
    invocation: delegation,
    registry: agents4,
    "built-in": bundled,
    "a2a-text": a2a4,
    "a2a-ids": a2a4,
    "a2a-session": a2a4,
  },
  reliability: {
    "event-log": durability,
    "resume-ownership": durability,
    simulation: "test/simulation/cases.test.ts",
    "io-faults": durability,
    clock: durability,
    "limits-retry": "test/runtime/loop/limits.test.ts",
    "process-hygiene": permissions,
    "path-containment": "test/conformance/path-containment.test.ts",
    "shell-policy": "test/conformance/shell-policy.test.ts",
    "secrets-env": "test/runtime/run/secrets.test.ts",
    "trust-discovery": "test/runtime/settings/untrusted.test.ts",
    parsing: "test/runtime/task/parsing.test.ts",
    network: "test/runtime/network/network.test.ts",
    "git-context": "src/runtime/git/git-context.test.ts",
    "tools-permissions": permissions,
    "terminal-ui": surfaces,
    "local-servers": "test/conformance/local-servers.test.ts",
    "mcp-client": "test/processes/tools/mcp/client.test.ts",
    sandbox: permissions,
    "distributed-engine": scaleOut,
    "memory-workspace": "src/runtime/ledgers/memory.test.ts",
    "fuzz-property": "test/fuzz/cases.test.ts",
  },
};

const rows = Object.entries(areas).flatMap(([file, runs]) =>
  Object.entries(runs).map(([area, where]) => ({ file, area, where })),
);
const tested = rows.filter(({ where }) => !where.startsWith("later: "));
const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

describe("no area of the conformance cases is missing", () => {
  test.each([...caseFiles, "reliability"] as const)(
    "%s: every area names where it is run, and every name exists",
    (file) => {
      expect(Object.keys(areas[file] ?? {}).toSorted()).toEqual(areasOf(file).toSorted());
    },
  );

  test.each(tested.filter(({ file }) => file !== "reliability"))(
    "$file $area is named in $where",
    ({ file, area, where }) => {
      expect(textOf(where)).toContain(`"${area}"`);
      expect(textOf(where)).toContain(`"${file}"`);
    },
  );

  test.each(tested.filter(({ file }) => file === "reliability"))(
    "every fault of $area is named in $where",
    ({ area, where }) => {
      for (const { id } of faults(area)) expect(textOf(where)).toContain(id);
    },
  );
});
