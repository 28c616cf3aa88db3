import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { command, place, type Place } from "../command.ts";

type Message = Readonly<Record<string, unknown>> & {
  id?: unknown;
  method?: string;
  error?: { code: number; message: string };
};

/** An editor that writes arbitrary lines to `subcrew acp`. */
function editor(at: Place, args: readonly string[] = []) {
  const script = join(at.workspace, "script.json");
  const child = spawn(
    process.execPath,
    [command, "acp", "--agent", "general", "--model", `scripted:${script}`, ...args],
    {
      cwd: at.workspace,
      env: at.env,
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, stderr })),
  );
  const waiting = new Map<number, (message: Message) => void>();
  let asked = (_: Message): void => {};
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Message;
    if (message.method !== undefined) return message.id === undefined ? undefined : asked(message);
    waiting.get(Number(message.id))?.(message);
  });
  let id = 0;
  const write = (line: string): void => void child.stdin.write(`${line}\n`);
  /** Sends a request whose parameters are given as text. */
  const request = (method: string, params: string): Promise<Message> =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
    });
  const call = (method: string, params: object): Promise<Message> => request(method, JSON.stringify(params));
  return {
    child,
    ended,
    write,
    request,
    call,
    onAsked: (take: (message: Message) => void) => (asked = take),
    reply: (to: unknown, result: unknown) => write(JSON.stringify({ jsonrpc: "2.0", id: to, result })),
    hello: () => call("initialize", { protocolVersion: 1, clientCapabilities: {} }),
    session: async (cwd = at.workspace): Promise<string> => {
      const { result } = await call("session/new", { cwd, mcpServers: [] });
      return String((result as { sessionId?: unknown }).sessionId);
    },
    prompt: (sessionId: string, text: string) =>
      call("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
  };
}

const writes = JSON.stringify([
  { calls: [{ name: "write_file", input: { path: "owned.txt", content: "x" } }] },
  "done",
]);

test.each([
  ["an option that was not offered", { outcome: { outcome: "selected", optionId: "yes" } }],
  ["the kind of an option instead of its id", { outcome: { outcome: "selected", optionId: "allow_once" } }],
  ["an inherited name", { outcome: { outcome: "selected", optionId: "__proto__" } }],
  ["an empty option", { outcome: { outcome: "selected", optionId: "" } }],
  ["a list of options", { outcome: { outcome: "selected", optionId: ["once"] } }],
  ["an unknown outcome", { outcome: { outcome: "approved", optionId: "once" } }],
  ["no outcome", {}],
  ["nothing", null],
  ["a text", "once"],
])("a permission request that is answered with %s is not granted, and the prompt ends", async (_, reply) => {
  const at = place({ "script.json": writes });
  const { hello, session, prompt, onAsked, reply: answer } = editor(at);
  await hello();
  onAsked(({ id }) => {
    answer(id, reply);
    answer(id, { outcome: { outcome: "selected", optionId: "once" } }); // a second answer changes nothing
  });
  expect((await prompt(await session(), "go")).result).toEqual({ stopReason: "end_turn" });
  expect(existsSync(join(at.workspace, "owned.txt"))).toBe(false);
});

test("a permission that is granted after the prompt was cancelled has no effect", async () => {
  const at = place({ "script.json": writes });
  const { hello, session, prompt, onAsked, reply, write } = editor(at);
  await hello();
  const id = await session();
  onAsked((asked) => {
    write(JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: id } }));
    reply(asked.id, { outcome: { outcome: "selected", optionId: "once" } });
  });
  expect((await prompt(id, "go")).result).toEqual({ stopReason: "cancelled" });
  expect(existsSync(join(at.workspace, "owned.txt"))).toBe(false);
});

test("messages that are nested too deeply, too long or invalid get an error, and the next message is served", async () => {
  const at = place({ "script.json": '["hello"]' });
  const { hello, session, prompt, request, write, child, ended } = editor(at);
  await hello();
  const id = await session();
  for (const deep of ["[".repeat(100_000) + "]".repeat(100_000), '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)]) {
    for (const params of [deep, `{"sessionId":"${id}","prompt":[{"type":"text","text":"x","_meta":{"a":${deep}}}]}`])
      expect((await request("session/prompt", params)).error).toEqual({
        code: -32600,
        message: "The message is nested deeper than 200 levels. Send flatter data.",
      });
    for (const line of [
      deep,
      `{"jsonrpc":"2.0","id":77,"result":${deep}}`,
      `{"jsonrpc":"2.0","method":"x","params":${deep}}`,
    ])
      write(line);
  }
  write(`"${"x".repeat(11_000_000)}"`);
  for (const line of ["garbage", "{", "[]", "null", "5", '{"jsonrpc":"2.0","id":99,"result":{}}', "\u0000", "\ufeff{}"])
    write(line);
  expect((await prompt(id, "hi")).result).toEqual({ stopReason: "end_turn" });
  child.stdin.end();
  expect(await ended).toEqual({ code: 0, stderr: "" });
}, 60_000);

test("a folder that is relative, missing or a file is reported as a mistake of the editor", async () => {
  const at = place({ "script.json": '["hello"]', "file.txt": "x" });
  const { hello, call } = editor(at);
  await hello();
  for (const cwd of [
    ".",
    "",
    "~",
    "file:///",
    "file:///tmp",
    "/no/such/folder",
    join(at.workspace, "file.txt"),
    "/tmp/a\u0000b",
  ]) {
    const { error } = await call("session/new", { cwd, mcpServers: [] });
    expect(error).toMatchObject({ code: -32602, data: { code: "BAD_INPUT" } });
    expect(error?.message).not.toContain("--cwd");
  }
});

test("of two concurrent prompts one is refused, and closing the connection leaves no run without an end", async () => {
  const sleeps = JSON.stringify([{ calls: [{ name: "bash", input: { command: "sleep 60" } }] }, "done"]);
  const at = place({ "script.json": sleeps });
  const { hello, session, call, child, ended } = editor(at, ["--permission-mode", "bypass"]);
  await hello();
  const id = await session();
  const refused = Array.from({ length: 20 }, (_, n) =>
    call("session/prompt", { sessionId: id, prompt: [{ type: "text", text: `${n}` }] }),
  );
  const first = await Promise.race(refused);
  expect(first.error?.message).toBe(
    "The previous message of this session has not been answered yet. Wait for the answer, or cancel the previous message.",
  );
  child.stdin.end();
  expect(await ended).toEqual({ code: 0, stderr: "" });
  const { stdout } = await at.run(["runs", "--json"]);
  expect(stdout.match(/"run_\w+"/g)?.length).toBe(1);
  expect(stdout).toContain("paused");
});
