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
    file: "src/core/policy/judge-command.ts",
    code: "if (!shell.sandboxed || first?.text === undefined || inner.length > 0 || sets.some(({ name }) => !isHarmless(name)))",
    change: "0 -> 1",
    why: "No program counts as read-only with arguments that name another command; the check is a second guard.",
  },
  {
    file: "src/runtime/loop/call-tool.ts",
    code: "const DEFAULT_TOOL_MS = 120_000;",
    change: "120_000 -> 120001",
    why: "One millisecond of two minutes.",
  },
  {
    file: "src/runtime/loop/call-tool.ts",
    code: "const LOOKED_AT = 4 * MAX_OUTPUT_BYTES;",
    change: "4 -> 5",
    why: "More text before the shown part is searched for secrets, which only takes longer.",
  },
  {
    file: "src/runtime/loop/call-tool.ts",
    code: "if (isDeeplyNested(value)) return {};",
    change: "return {}; -> return undefined",
    why: "The result is spread into an object, and undefined adds nothing either.",
  },
  {
    file: "src/runtime/loop/call-tool.ts",
    code: "return {}; // a cycle, or a value that JSON cannot express",
    change: "return {}; -> return undefined",
    why: "The result is spread into an object, and undefined adds nothing either.",
  },
  {
    file: "src/runtime/loop/loop.ts",
    code: 'return texts.length > 1 ? { output: texts.join("\\n\\n") } : {};',
    change: "texts.length > 1 -> texts.length >= 1",
    why: "A single text is the result already.",
  },
  {
    file: "src/runtime/task/perform.ts",
    code: "conversations.delete(key);",
    change: "conversations.delete(key); -> nothing",
    why: "It only frees memory: the journal holds the same conversation for a second attempt.",
  },
  {
    file: "src/runtime/execute/execute.ts",
    code: "running.delete(id);",
    change: "running.delete(id); -> nothing",
    why: "It only frees memory: the schedule never cancels a node that has ended, and a node that starts again replaces the entry.",
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
    file: "src/runtime/loop/loop.ts",
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
    file: "src/core/policy/command-line.ts",
    code: "...commandsInCode(program, [...args, ...input]),",
    change: "...args -> nothing",
    why: "commandsInArguments finds the same texts in arguments; a wrapped command is analysed by itself.",
  },
  {
    file: "src/core/shell/arguments.ts",
    code: 'const scripts = texts[names[0] ?? 0] === "workspace" ? names.slice(2) : names;',
    change: "0 -> 1",
    why: "Without a name there is none to leave out.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "for (let at = 0; at < code.length; at++) {",
    change: "at < code.length -> at <= code.length",
    why: "There is no character behind the last one, so nothing begins there.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "const before = code.slice(Math.max(at - 5, 0), at);",
    change: "5 -> 6",
    why: "One more blank between `qx` and its bracket.",
  },
  {
    file: "src/core/shell/code.ts",
    code: 'const long = char === "[" ? /^\\[(=*)\\[/.exec(code.slice(at, at + 12)) : null;',
    change: "12 -> 13",
    why: "One more sign between the two brackets.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "if (end < 0) unclosed.add(close);",
    change: "end < 0 -> end <= 0",
    why: "A closing quote is never the first character of the code.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "if (end < 0) unclosed.add(close);",
    change: "0 -> 1",
    why: "A closing quote is never the first character of the code.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "for (let at = from; at < code.length; at++) {",
    change: "at < code.length -> at <= code.length",
    why: "There is no character behind the last one, so nothing ends there.",
  },
  {
    file: "src/core/shell/code.ts",
    code: "return -1;",
    change: "1 -> 2",
    why: "Every negative place means that there is no closing quote.",
  },
  {
    file: "src/core/policy/protected-paths.ts",
    code: 'return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join("/"));',
    change: "at + 1 -> at - 1",
    why: "All these places have two steps: the first one, and all but the last one, are the same.",
  },
];
