import { z } from "zod";
import { type Todo, type TodoStatus, todoStatuses } from "../../core/task/scratchpad.ts";
import { defineTool } from "../../core/task/tool.ts";
import { isRecord } from "../../core/text/json.ts";

const MOST = 100;

const title = z.string().trim().min(1).max(300);
const status = z.enum(todoStatuses);
const input = z.strictObject({
  action: z
    .enum(["list", "add", "update", "complete", "set"])
    .describe("set replaces the list; complete checks off one entry"),
  items: z
    .array(z.strictObject({ title, status: status.optional() }))
    .max(MOST)
    .optional()
    .describe("add, set: the entries"),
  title: title.optional().describe("add, update: the text of one entry"),
  id: z.int().min(1).optional().describe("update, complete: the number of the entry"),
  status: status.optional().describe("update: the new status"),
});

/** Keeps the to-do list of this task. */
export const todo = defineTool({
  name: "todo",
  description: "Keeps the to-do list of this task and shows it. Use it when a task has several steps.",
  input,
  aliases: { todos: wholeList, plan: wholeList },
  effect: "read",
  does: "none",
  order: () => "write",
  timeoutMs: 1_000,
  run(wanted, { desk }) {
    actions[wanted.action](desk.todos, wanted);
    return shown(desk.todos);
  },
});

/** The whole list as other programs send it: entries with `content`, `step` or `description`. */
function wholeList(given: unknown): Readonly<Record<string, unknown>> {
  if (!Array.isArray(given)) return { action: "set", items: given };
  const items = given.map((entry: unknown) =>
    isRecord(entry)
      ? {
          title: entry["title"] ?? entry["content"] ?? entry["step"] ?? entry["description"],
          status: entry["status"] === "cancelled" ? "dropped" : entry["status"],
        }
      : entry,
  );
  return { action: "set", items };
}

type Wanted = z.infer<typeof input>;
type Action = (todos: Todo[], wanted: Wanted) => void;

const actions: Readonly<Record<Wanted["action"], Action>> = {
  list: () => {},
  add: (todos, wanted) => {
    const added = entriesIn(wanted);
    if (added.length === 0) throw new Error("say what to add: `title`, or several `items`");
    if (todos.length + added.length > MOST) throw new Error(`a list can have at most ${MOST} entries`);
    todos.push(...added);
  },
  set: (todos, wanted) => void todos.splice(0, todos.length, ...entriesIn(wanted)),
  update: (todos, wanted) => {
    if (wanted.title === undefined && wanted.status === undefined)
      throw new Error("say what to change: `title` or `status`");
    const entry = entryOf(todos, wanted);
    entry.title = wanted.title ?? entry.title;
    entry.status = wanted.status ?? entry.status;
  },
  complete: (todos, wanted) => {
    entryOf(todos, wanted).status = "completed";
  },
};

function entriesIn({ items = [], title, status }: Wanted): Todo[] {
  const all = [...(title === undefined ? [] : [{ title, status }]), ...items];
  return all.map((item) => ({ title: item.title, status: item.status ?? "pending" }));
}

function entryOf(todos: readonly Todo[], { id }: Wanted): Todo {
  const entry = id === undefined ? undefined : todos[id - 1];
  if (entry) return entry;
  throw new Error(
    id === undefined ? "name the entry: `id`" : `the list has no entry ${id}: its last entry is ${todos.length}`,
  );
}

const MARKS: Readonly<Record<TodoStatus, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  dropped: "[-]",
};

function shown(todos: readonly Todo[]): string {
  if (todos.length === 0) return "[the list is empty]";
  const open = todos.filter((entry) => entry.status === "pending" || entry.status === "in_progress").length;
  const lines = todos.map((entry, index) => `${index + 1}. ${MARKS[entry.status]} ${entry.title.replace(/\s+/g, " ")}`);
  return [...lines, open === 0 ? "All done." : `${open} of ${todos.length} open.`].join("\n");
}
