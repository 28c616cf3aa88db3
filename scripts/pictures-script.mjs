// @ts-check

/**
 * The script of the model for the pictures in the documentation: the shortest script in which every state of a task
 * occurs.
 */

const task = (
  /** @type {string} */ id,
  /** @type {string} */ assignee,
  /** @type {string} */ text,
  depends = [""],
) => ({
  id,
  assignee,
  task: text,
  depends: depends.filter(Boolean),
});

/** The input of the team in the pictures: twelve tasks of a release. */
export const team = {
  team: {
    objective: "Release the shop",
    members: [
      { role: "reader", agent: "explore" },
      { role: "coder", agent: "code" },
    ],
    tasks: [
      task("survey", "reader", "List what changed since the last release"),
      task("prices", "coder", "Raise the discount to 20 %", ["survey"]),
      task("orders", "coder", "Move the orders to the new table"),
      task("mails", "coder", "Write the mails to customers"),
      task("login", "coder", "Check passwords against the breach list"),
      task("search", "reader", "Compare the search with last month"),
      task("publish", "coder", "Publish the beta", ["survey"]),
      task("cart", "coder", "Test the cart on phones", ["orders"]),
      task("notes", "reader", "Write the release notes", ["prices", "publish"]),
      task("announce", "reader", "Announce the release", ["notes"]),
      task("audit", "reader", "Audit the prices", ["prices"]),
      task("cleanup", "coder", "Delete the old table", ["cart"]),
    ],
  },
};

const slowly = (/** @type {string} */ text) => ({ text: text.match(/\S+\s*/g) ?? [], paceMs: 400 });
const long = (/** @type {string} */ text) => slowly(`${text} `.repeat(40));

/**
 * @param {Readonly<Record<string, any>>} body
 * @returns {import("../src/testing/provider-turn.ts").ProviderTurn}
 */
export function answer({ messages }) {
  const textOf = (/** @type {any} */ { content }) =>
    typeof content === "string" ? content : content.map((/** @type {any} */ part) => part.text ?? "").join("\n");
  const asked = textOf(messages[0]);
  const turn = messages.filter((/** @type {any} */ { role }) => role === "assistant").length;
  const usage = { input: 4_200 + turn * 900, output: 180 };
  const call = (/** @type {string} */ name, /** @type {object} */ input, text = "") => ({
    text,
    calls: [{ name, input }],
    usage,
  });
  if (asked.includes("regular customers"))
    return (
      [
        call("read_file", { path: "src/prices.ts" }, "I look at how prices are computed."),
        call(
          "edit_file",
          { path: "src/prices.ts", oldText: "export const discount = 0.1;", newText: "export const discount = 0.2;" },
          "`discount` is the only place that knows the number, so **one line** changes in the code:",
        ),
        call(
          "edit_file",
          { path: "README.md", oldText: "Sells books.", newText: "Sells books, 20 % off for regular customers." },
          "The code is done. Now the README:",
        ),
      ][turn] ?? "Done."
    );
  if (asked.includes("breach list")) return { fault: "bad-request", message: "The context is too long." };
  if (asked.includes("Publish the beta"))
    return turn === 0 ? call("bash", { command: "npm publish --tag beta" }) : "Published.";
  if (asked.includes("orders")) return long("I copy the orders in batches of a thousand and compare the sums;");
  if (asked.includes("mails")) return long("Dear customer, your discount is now 20 %, for everything in the shop;");
  if (asked.includes("Raise the discount"))
    return turn === 0
      ? call("read_file", { path: "src/prices.ts" })
      : turn === 1
        ? { ...call("bash", { command: "npm test" }) }
        : "The discount is 20 %.";
  return { text: "Nothing stands in the way of the release.", usage };
}
