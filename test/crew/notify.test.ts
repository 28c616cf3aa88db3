import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createCrew, defineAgent } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const QUESTION = "Proceed with $(touch pwned) or `touch pwned`?";

/** Runs one task that asks something and then ends, with these settings. */
async function runWith(notify: object, network?: object): Promise<{ home: string; cwd: string }> {
  const [home, cwd] = [tempFolder(), tempFolder()];
  const crew = createCrew({
    home,
    cwd,
    env: { PATH: process.env["PATH"], HOME: tempFolder(), SECRET_TOKEN: "canary" },
    discover: false,
    agents: [defineAgent({ name: "worker", description: "works", instructions: "Work." })],
    models: { m: scripted({ calls: [{ name: "ask", input: { question: QUESTION } }] }, "done") },
    model: "m",
    config: { notify, ...(network && { network }) },
  });
  const run = crew.run({ mode: "single", agent: "worker", task: "Go on <b>now</b> & here." });
  for await (const event of run)
    if (event.type === "gate.opened") await run.answer(event.path, { approve: true, text: "yes" }, event.call);
  await run;
  return { home, cwd };
}

test("a command is run when a run needs the person and when it is done; no text is part of its command line", async () => {
  const out = join(tempFolder(), "notices");
  const { home } = await runWith({ command: `cat >> '${out}'; echo "$SUBCREW_TEXT|$SECRET_TOKEN" >> '${out}'` });
  const lines = readFileSync(out, "utf8").trim().split("\n");
  expect(JSON.parse(lines[0]!)).toMatchObject({
    event: "needs-you",
    title: "Go on <b>now</b> & here.",
    task: "worker",
    text: QUESTION,
  });
  expect(lines[1]).toBe(`${QUESTION}|`);
  expect(JSON.parse(lines[2]!)).toMatchObject({ event: "done", status: "ok", task: "" });
  expect(home).not.toBe("");
});

test("a webhook that is refused while the command still runs does not end the process", async () => {
  const unhandled: unknown[] = [];
  const noted = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", noted);
  onTestFinished(() => void process.off("unhandledRejection", noted));
  const { home } = await runWith({ command: "sleep 0.3", webhook: "http://127.0.0.1:9/" });
  expect(unhandled).toEqual([]);
  expect(readFileSync(join(home, "notify.log"), "utf8").match(/webhook: /g)).toHaveLength(2);
});

test("notifications arrive in the order of their events, also when the first notification takes longer", async () => {
  const out = join(tempFolder(), "notices");
  const slowly = `read notice; if [ "$SUBCREW_EVENT" = needs-you ]; then sleep 0.5; fi; echo "$SUBCREW_EVENT" >> '${out}'`;
  await runWith({ command: slowly });
  expect(readFileSync(out, "utf8")).toBe("needs-you\ndone\n");
});

test("a webhook gets the same notice through the guarded network, and a failure is reported", async () => {
  const got: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk)).on("end", () => (got.push(body), response.end()));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  await runWith({ webhook: `http://${host}/hook`, on: ["done"] }, { allowHosts: [host] });
  expect(got.map((body) => (JSON.parse(body) as { event: string }).event)).toEqual(["done"]);
  // An address of this machine is refused unless the settings name it.
  const { home } = await runWith({ webhook: `http://${host}/hook` });
  expect(got).toHaveLength(1);
  expect(readFileSync(join(home, "notify.log"), "utf8")).toMatch(/webhook: .*127\.0\.0\.1/);
});
