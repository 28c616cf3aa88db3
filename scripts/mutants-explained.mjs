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
];
