import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import { drive } from "../../../test/support/drive-model.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { ModelEvent, ToolSpec } from "../../core/model/model.ts";
import { statedVerdict } from "../../core/plan/review.ts";
import type { Tool } from "../../core/task/tool.ts";
import { prompts } from "../../embedded.ts";
import { builtinTools } from "../../tools/table.ts";
import { offline } from "./offline.ts";

let tools: readonly Tool[];
beforeAll(() => {
  tools = [...builtinTools().values()];
});

async function events(turn: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const seen: ModelEvent[] = [];
  for await (const event of turn) seen.push(event);
  return seen;
}

const only = (...names: readonly string[]): Tool[] => tools.filter(({ name }) => names.includes(name));

/** A small shop with files that mislead a search: tests, docs, a lock file, generated code. */
const shop = (): string =>
  tempFolder({
    ".gitignore": "dist/\n",
    "README.md": "# Shop\n\nLogin, sessions and invoices.\n",
    "CHANGELOG.md": "## 1.1\n\n- login: sessions expire, passwords are hashed\n".repeat(5),
    "package-lock.json": '{ "login": "1.0.0", "session": "2.0.0", "password": "3.0.0" }\n',
    "dist/login.js": "export function login() {} // password session\n",
    "docs/login.md": "# Login\n\nA password starts a session.\n",
    "src/auth/login.ts": [
      'import { startSession } from "./session.ts";',
      'import { findUser } from "../db/users.ts";',
      "",
      "/** Checks the password of a user and starts a session; three failures lock the account. */",
      "export async function login(name: string, password: string): Promise<Session> {",
      "  const user = await findUser(name);",
      "  if (!matches(user, password)) throw new Error(`wrong password for ${name}`);",
      "  return startSession(user);",
      "}",
      "",
      "function matches(user: User, password: string): boolean {",
      "  return hash(password) === user.hash;",
      "}",
    ].join("\n"),
    "src/auth/session.ts": [
      "/** How long a session lives without being used. */",
      "export const SESSION_MINUTES = 30;",
      "",
      "/** Opens a session. */",
      "export function startSession(user: User): Session {",
      "  return { user, expires: Date.now() + SESSION_MINUTES * 60_000 };",
      "}",
    ].join("\n"),
    "src/db/users.ts":
      "export async function findUser(name: string) {\n  return query('select * from users where name = $1', name);\n}\n",
    "src/billing/invoice.ts":
      "/** Adds up what a customer owes. */\nexport function invoiceTotal(items: Item[]): number {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n",
    "src/server.ts":
      'import { login } from "./auth/login.ts";\n\nroute("POST", "/login", (request) => login(request.name, request.password));\n',
    "src/tax.py":
      'def tax_for(country, amount):\n    """The tax on an amount."""\n    return RATES[country] * amount\n',
    "test/login.test.ts": 'test("login with a wrong password starts no session", () => {});\n'.repeat(10),
  });

test("the offline model searches, reads, and answers with places in the code", async () => {
  const { text, calls, turns } = await drive(offline, {
    prompt: "Where is the password checked at login, and how long does a session live?",
    cwd: shop(),
    with: tools,
  });
  expect(text).toContain("1. src/auth/login.ts:5 login");
  expect(text).toContain("5  export async function login(name: string, password: string): Promise<Session> {");
  expect(text).toMatch(/## How long does a session live\n\n1\. src\/auth\/session\.ts:\d/);
  expect(text).toContain("2  export const SESSION_MINUTES = 30;");
  expect(text).not.toContain("dist/");
  expect(text).not.toMatch(/^\d\. (?:package-lock|CHANGELOG)/m);
  expect(turns).toBeLessThanOrEqual(4);
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["grep_files", "glob", "list_files", "read_file"]));
});

test("the offline model gives the same answer to the same request", async () => {
  const cwd = shop();
  const ask = { prompt: "Who adds up an invoice?", cwd, with: tools };
  const [one, other] = [await drive(offline, ask), await drive(offline, ask)];
  expect(other).toEqual(one);
  expect(one.text).toContain("src/billing/invoice.ts:2 invoiceTotal");
});

test("the offline model's usage is an estimate, and it costs nothing", async () => {
  const request = {
    model: "offline",
    system: "x".repeat(40),
    messages: [{ role: "user", text: "hello there" }],
    tools: [],
    toolChoice: "auto",
  } as const;
  const seen = await events(offline(request, new AbortController().signal));
  const [text, end] = seen;
  expect(text).toMatchObject({ type: "text" });
  expect(end).toEqual({
    type: "end",
    usage: { input: 13, output: Math.ceil((text?.type === "text" ? text.text.length : 0) / 4) },
    cost: 0,
  });
});

test.each([
  ["Where is `startSession` called?", "src/auth/login.ts"],
  ["How is the tax of a country computed?", "src/tax.py:1 tax_for"],
  ["Explain src/db/users.ts", "src/db/users.ts:1 findUser (named in the question, 3 lines read)"],
  ["What do the docs say about login?", "docs/login.md"],
  ["authentication", "src/auth/"],
])("the offline model answers: %s", async (prompt, place) => {
  expect((await drive(offline, { prompt, cwd: shop(), with: tools })).text).toContain(place);
});

test("the offline model says that it cannot do a request, and returns its findings", async () => {
  const { text } = await drive(offline, {
    prompt: "Please rewrite the login so that the password is salted.",
    cwd: shop(),
    with: tools,
  });
  expect(text).toContain("The offline model cannot write or change anything.");
  expect(text).toContain("src/auth/login.ts:5");
});

test.each(["hello!", "Thanks, what can you do?", "", "???"])(
  "asked %j, the offline model asks for words of the project and searches nothing",
  async (prompt) => {
    const { text, calls } = await drive(offline, { prompt, cwd: shop(), with: tools });
    expect(text).toContain("Use words that occur in this project");
    expect(calls).toEqual([]);
  },
);

test("without tools the offline model answers that it cannot search", async () => {
  const { text, calls } = await drive(offline, { prompt: "Where is the login?", cwd: shop() });
  expect(text).toContain("The agent has no search tool");
  expect(calls).toEqual([]);
});

test("the offline model works with the tools it has", async () => {
  const prompt = "Where does a session start?";
  for (const some of [
    only("grep_files"),
    only("list_files", "read_file"),
    only("glob", "read_file"),
    only("grep_files", "read_file"),
  ]) {
    const { text, calls } = await drive(offline, { prompt, cwd: shop(), with: some });
    expect(text).toContain("src/auth/session.ts");
    for (const { name } of calls) expect(some.map((tool) => tool.name)).toContain(name);
  }
});

test("in an empty folder the offline model finds nothing and says so", async () => {
  const { text, turns } = await drive(offline, { prompt: "Where is the login?", cwd: tempFolder(), with: tools });
  expect(text).toContain("Nothing was found.");
  expect(text).toContain("The folder seems to be empty.");
  expect(turns).toBeLessThanOrEqual(3);
});

test("the offline model calls a folder empty only if it has listed it", async () => {
  const prompt = "Where is the zebra?";
  for (const some of [tools, only("grep_files", "glob", "read_file"), only("grep_files")])
    expect((await drive(offline, { prompt, cwd: shop(), with: some })).text).not.toContain("empty");
});

test("inputs and recordings of a run in its folder are no evidence", async () => {
  const prompt = 'Where is the "session" started?';
  const written = 'Where is the \\"session\\" started?';
  const cwd = tempFolder({
    "src/session.ts": "export function startSession() {}\n",
    "team.yaml": `team:\n  tasks:\n    - { id: a, task: "${written}" }\n`,
    "tape.json": `{\n "turns": [\n  { "begins": "${written}" },\n  { "text": "The session is started." }\n ]\n}\n`,
    "config.yaml": "session: started by the server\n",
  });
  const { text } = await drive(offline, { prompt, cwd, with: tools });
  expect(text).toContain("src/session.ts:1 startSession");
  expect(text).toContain("Files with matches: 2, read: 2."); // the file and config.yaml
  expect(text).not.toMatch(/team\.yaml|tape\.json/);
  expect((await drive(offline, { prompt: `${prompt} See team.yaml.`, cwd, with: tools })).text).toContain("team.yaml");
});

test("the offline model reports failed calls", async () => {
  const { text } = await drive(offline, {
    prompt: "What does src/auth/loggin.ts do at login?",
    cwd: shop(),
    with: tools,
  });
  expect(text).toContain(
    'Calls that failed: 1 ("src/auth/loggin.ts" does not exist. Similar names in "src/auth": login.ts)',
  );
});

test("special characters of regular expressions in a prompt do no harm", async () => {
  for (const prompt of ['Where is "login(" or [a-z]+ or `$.*(?<x>` or (((?', "\\d{3,} ^$ | \u0000 \ud800 login"]) {
    const { text, messages } = await drive(offline, { prompt, cwd: shop(), with: tools });
    expect(text).toContain("src/auth/login.ts");
    const failed = messages.flatMap((message) =>
      message.role === "tool" ? message.results.filter(({ error }) => error) : [],
    );
    expect(failed).toEqual([]);
  }
});

test("a prompt of 200 KB gets a short answer", async () => {
  const { text } = await drive(offline, {
    prompt: `Where is the password checked?\n\n${"lorem ipsum dolor sit amet. ".repeat(7_200)}`,
    cwd: shop(),
    with: tools,
  });
  expect(text).toContain("src/auth/login.ts");
  expect(text.length).toBeLessThan(20_000);
});

test("the offline model quotes text that came with the task", async () => {
  const attached = '<result of="scout">\n# Findings\nThe ledger lives in src/ledger.ts:44\nnothing else\n</result>';
  const { text } = await drive(offline, {
    prompt: `Summarise.\n\n${prompts.attached}\n\n${attached}`,
    cwd: shop(),
    with: tools,
  });
  expect(text).toContain(
    "From the text that came with the task:\n> # Findings\n> The ledger lives in src/ledger.ts:44",
  );
});

test("as a reviewer the offline model approves nothing and says that it cannot judge", async () => {
  const prompt = `${prompts.reviewWork}\n\n${prompts.reviewMarker}`
    .replace("{task}", "Find the login.")
    .replace("{output}", "It is in src/auth/login.ts:5");
  const { text, calls } = await drive(offline, { prompt, cwd: shop(), with: tools });
  expect(statedVerdict(text)?.approved).toBe(false);
  expect(text).toContain("The offline model cannot review work");
  expect(calls).toEqual([]);
});

const finish = (name: string, input: ToolSpec["input"]): ToolSpec => ({ name, description: "hands in", input });
const resultOf = (schema: unknown): ToolSpec["input"] => ({
  type: "object",
  properties: { result: schema },
  required: ["result"],
});
const ajv = new Ajv2020({ strict: false });

test.each(["complete_task", "submit_result", "yield"])(
  "the offline model finishes with %s when there is such a tool",
  async (name) => {
    const { handedIn, text } = await drive(offline, {
      prompt: "Where is the login?",
      cwd: shop(),
      with: tools,
      tools: [finish(name, resultOf({ type: "string" }))],
    });
    expect(text).toEqual("");
    expect(handedIn).toEqual({ result: expect.stringContaining("1. src/auth/login.ts:5 login") });
  },
);

test("the offline model fills the schema of the result with its findings", async () => {
  const schema = resultOf({
    type: "object",
    properties: {
      summary: { type: "string" },
      files: { type: "array", items: { type: "string" }, minItems: 1 },
      places: {
        type: "array",
        items: {
          type: "object",
          properties: {
            path: { type: "string" },
            line: { type: "integer" },
            reason: { type: "string" },
            symbols: { type: "array", items: { type: "string" } },
          },
          required: ["path", "line", "reason"],
          additionalProperties: false,
        },
      },
      confidence: { enum: ["high", "medium", "low"] },
      complete: { type: "boolean" },
    },
    required: ["summary", "files", "places", "confidence", "complete"],
    additionalProperties: false,
  });
  const { handedIn } = await drive(offline, {
    prompt: "Where is the password checked at login?",
    cwd: shop(),
    with: tools,
    tools: [finish("complete_task", schema)],
  });
  expect(ajv.validate(schema, handedIn)).toBe(true);
  expect(handedIn).toMatchObject({
    result: { files: expect.arrayContaining(["src/auth/login.ts"]), confidence: "low", complete: true },
  });
  expect(handedIn).toMatchObject({
    result: {
      places: expect.arrayContaining([
        expect.objectContaining({ path: "src/auth/login.ts", line: 5, symbols: ["login"] }),
      ]),
    },
  });
});

test("when only the finish tool is offered, the offline model returns its findings", async () => {
  const given = [finish("complete_task", resultOf({ type: "string" }))];
  const first = await drive(offline, { prompt: "Where is the login?", cwd: shop(), with: tools });
  const messages = [
    ...first.messages.slice(1, 3),
    { role: "user", text: prompts.grace.replace("{limit}", "1 turn") } as const,
  ];
  const { handedIn, turns } = await drive(offline, {
    prompt: "Where is the login?",
    cwd: shop(),
    tools: given,
    toolChoice: "required",
    messages,
  });
  expect(turns).toBe(1);
  expect(handedIn).toEqual({ result: expect.stringContaining("src/auth/login.ts") });
});

test("the offline model answers in words when it may not call a tool", async () => {
  const { handedIn, turns, calls } = await drive(offline, {
    prompt: "Where is the login?",
    cwd: shop(),
    toolChoice: "none",
    with: tools,
  });
  expect([handedIn, turns, calls]).toEqual([undefined, 1, []]);
});

test("the offline model uses the tool that it is told to use", async () => {
  const request = {
    model: "offline",
    system: "",
    messages: [{ role: "user", text: "Where is the login?" }],
    toolChoice: { tool: "current_time" },
  } as const;
  const specs = [
    finish("current_time", { type: "object", properties: {} }),
    finish("complete_task", resultOf({ type: "string" })),
  ];
  const calling = await events(
    offline(
      {
        ...request,
        tools: [...specs, finish("grep_files", { type: "object", properties: { pattern: { type: "string" } } })],
      },
      new AbortController().signal,
    ),
  );
  expect(calling.filter(({ type }) => type === "call")).toMatchObject([{ call: { name: "current_time", input: {} } }]);
  const finishing = await events(
    offline({ ...request, toolChoice: { tool: "complete_task" }, tools: specs }, new AbortController().signal),
  );
  expect(finishing[0]).toMatchObject({ type: "call", call: { name: "complete_task" } });
});

test("the offline model returns a rejected result again with fewer fields, and then as text", async () => {
  const schema = {
    type: "object",
    properties: { result: { type: "string" }, notes: { type: "string" } },
    required: ["result"],
  };
  const task = { role: "user", text: "hello" } as const;
  const refused = (n: number) => [
    { role: "assistant", text: "", calls: [{ id: `c${n}`, name: "complete_task", input: {} }] } as const,
    { role: "tool", results: [{ id: `c${n}`, name: "complete_task", text: "Not accepted", error: true }] } as const,
  ];
  const turn = async (times: number) => {
    const messages = [task, ...Array.from({ length: times }, (_, n) => refused(n)).flat()];
    const request = {
      model: "m",
      system: "",
      messages,
      tools: [finish("complete_task", schema)],
      toolChoice: "auto",
    } as const;
    return (await events(offline(request, new AbortController().signal)))[0];
  };
  expect(await turn(0)).toMatchObject({ call: { input: { result: expect.any(String), notes: expect.any(String) } } });
  expect(await turn(1)).toMatchObject({ call: { input: { result: expect.any(String) } } });
  expect(await turn(1)).not.toMatchObject({ call: { input: { notes: expect.any(String) } } });
  expect(await turn(3)).toMatchObject({ type: "text" });
});

test("an abort ends the turn of the offline model", async () => {
  const request = {
    model: "m",
    system: "",
    messages: [{ role: "user", text: "x" }],
    tools: [],
    toolChoice: "auto",
  } as const;
  expect(await events(offline(request, AbortSignal.abort()))).toMatchObject([
    { type: "error", fault: { message: "the turn was aborted" } },
  ]);
});

test("the offline model does not search for the lines about a member's team", async () => {
  const prompt =
    "The team's objective: Describe this shop\nYour role in the team: reader\n\nWhere is startSession defined?";
  const { text } = await drive(offline, { prompt, with: only("grep_files", "read_file", "list_files"), cwd: shop() });
  expect(text).toMatch(/^Searched for: (?!.*(?:team|objective|role|reader)).*startSession/m);
});
