// @ts-check

/**
 * The changes of `npm run mutate` that no test can notice, and why. `code` is the line where the change begins, without
 * the spaces around it; `change` is printed by the script.
 *
 * @typedef {{ file: string, code: string, change: string, why: string }} Explained
 */

/** @type {readonly Explained[]} */
export const explained = [
  {
    file: "src/core/policy/judge-call.ts",
    code: 'ruleFits(rule, tool, placed(place, false), "permission"),',
    change: "false -> true",
    why: "An allow rule matches a path whether the call reads or changes it.",
  },
  {
    file: "src/core/policy/judge-call.ts",
    code: 'ruleFits({ ...rule, tool, pattern }, tool, placed(`${place}/any/thing`, true), "permission")',
    change: "true -> false",
    why: "An allow rule matches a path whether the call reads or changes it.",
  },
  {
    file: "src/core/policy/judge-call.ts",
    code: 'const rule = lastFitting(rules, "read_file", placed(place, false));',
    change: "false -> true",
    why: "A rule matches a path whether the call reads or changes it.",
  },
  {
    file: "src/runtime/loop/run-tool.ts",
    code: "const DEFAULT_TOOL_MS = 120_000;",
    change: "120_000 -> 120001",
    why: "One millisecond of two minutes.",
  },
  {
    file: "src/runtime/loop/tool-result.ts",
    code: "const LOOKED_AT = 4 * MAX_OUTPUT_BYTES;",
    change: "4 -> 5",
    why: "More text before the shown part is searched for secrets, which only takes longer.",
  },
  {
    file: "src/runtime/loop/tool-result.ts",
    code: "if (isDeeplyNested(value)) return {};",
    change: "return {}; -> return undefined",
    why: "The result is spread into an object, and undefined adds nothing either.",
  },
  {
    file: "src/runtime/loop/tool-result.ts",
    code: "return {}; // a cycle, or a value that JSON cannot express",
    change: "return {}; -> return undefined",
    why: "The result is spread into an object, and undefined adds nothing either.",
  },
  {
    file: "src/runtime/loop/agent-result.ts",
    code: 'return texts.length > 1 ? { output: texts.join("\\n\\n") } : {};',
    change: "texts.length > 1 -> texts.length >= 1",
    why: "A single text is the result already.",
  },
  {
    file: "src/runtime/task/kept-conversations.ts",
    code: "this.#kept.delete(key);",
    change: "this.#kept.delete(key); -> nothing",
    why: "It only frees memory: the journal holds the same conversation for a second attempt.",
  },
  {
    file: "src/runtime/store/journal-records.ts",
    code: "const MOST_HEAD = 64;",
    change: "64 -> 65",
    why: "More bytes than the longest beginning of a record has: it only bounds what is searched.",
  },
  {
    file: "src/runtime/store/journal-line.ts",
    code: "export const MOST_RECORD_BYTES = 2 ** 28;",
    change: "2 -> 3",
    why: "A larger limit of memory: a test would have to write a line of 256 MB.",
  },
  {
    file: "src/runtime/store/journal-line.ts",
    code: "export const MOST_RECORD_BYTES = 2 ** 28;",
    change: "28 -> 29",
    why: "A larger limit of memory: a test would have to write a line of 256 MB.",
  },
  {
    file: "src/runtime/loop/agent-result.ts",
    code: 'if (agent.summary !== "all" || validate) return {};',
    change: "return {}; -> return undefined",
    why: "The result is spread into an object, and undefined adds nothing either.",
  },
  {
    file: "src/runtime/task/assign-tools.ts",
    code: "const PEERS_MS = 60_000;",
    change: "60_000 -> 60001",
    why: "One millisecond of a minute.",
  },
  {
    file: "src/runtime/resume/previous-runs.ts",
    code: 'const ended = events.findLast((event) => event.type === "node.ended" && event.path === path && event.seq < before);',
    change: "event.seq < before -> event.seq <= before",
    why: "The event with this number is the start of a task, never the end of one.",
  },
  {
    file: "src/core/policy/protected-paths.ts",
    code: 'return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join("/"));',
    change: "at + 1 -> at - 1",
    why: "All these places have two steps: the first one, and all but the last one, are the same.",
  },
];
