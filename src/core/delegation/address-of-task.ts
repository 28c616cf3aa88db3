/** Finds the task that another task means by a name, among the tasks that can receive messages. */
export function addressee(
  to: string,
  { from, there }: Readonly<{ from: string; there: readonly string[] }>,
): string | undefined {
  const others = there.filter((path) => path !== from);
  const exact = others.find((path) => path === to);
  if (exact !== undefined) return exact;
  const named = others.filter((path) => path.split("/").at(-1) === to);
  // The nearest task wins: a task that the sender started, then one with the same parent, then the only other task with
  // that name.
  const [child, sibling] = [
    named.find((path) => aboveOf(path) === from),
    named.find((path) => aboveOf(path) === aboveOf(from)),
  ];
  return child ?? sibling ?? (named.length === 1 ? named[0] : undefined);
}

/**
 * The path of the parent task: `lead` for `lead/scout` and for `lead.2/scout` (a round of a loop); empty for a
 * top-level task.
 */
export function aboveOf(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? "" : path.slice(0, cut).replace(/\.\d+$/, "");
}
