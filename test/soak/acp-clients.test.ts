import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type ProviderServer, startProviderServer } from "../../src/testing/provider-server.ts";
import { command } from "../processes/command.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { realTool } from "./tool-cache.ts";
import { withoutBlanks } from "./without-blanks.ts";

/*
 * A real client of the Agent Client Protocol, with `subcrew acp` as its agent: acpx, which is headless. The main agent sends
 * its requests to a provider on this machine.
 */

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

type Went = Readonly<{ said: string; code: number | null; cwd: string; made: boolean }>;

/** acpx sends one prompt to our agent, which reads a file and then writes another one. */
async function prompt(bin: string, flags: readonly string[]): Promise<Went> {
  const cwd = tempFolder({ "notes.txt": "the answer is 42\n" });
  const home = tempFolder({});
  const steps = [
    { name: "read_file", input: { path: "notes.txt" } },
    { name: "write_file", input: { path: "made.txt", content: "made\n" } },
  ];
  let asked = 0;
  server = await startProviderServer(({ body }) => {
    if (!Array.isArray(body["tools"]) || body["tools"].length === 0) return "A title.";
    const call = steps[asked++];
    return call ? { text: "One moment.", calls: [call] } : "It is 42, says the crew.";
  });
  mkdirSync(join(home, ".subcrew"), { recursive: true });
  writeFileSync(join(home, ".subcrew", "config.yaml"), "model: anthropic/claude-sonnet-4-5\n");
  const agent = `${process.execPath} ${withoutBlanks(command)} acp --trust`;
  const args = ["--agent", agent, "--cwd", cwd, ...flags, "exec", "What is in notes.txt?"];
  const child = spawn(join(bin, "acpx"), args, {
    cwd,
    env: {
      HOME: home,
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      ANTHROPIC_API_KEY: "not-a-key-at-all",
      ANTHROPIC_BASE_URL: server.url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const file = join(cwd, "made.txt");
  return { said, code, cwd, made: existsSync(file) && readFileSync(file, "utf8") === "made\n" };
}

test.for<[flag: string, made: boolean]>([
  ["--approve-all", true],
  ["--deny-all", false],
  ["--approve-reads", false],
])("the real acpx %s drives subcrew acp", async ([flag, made], ctx) => {
  const need = await realTool("acpx");
  if (need.missing !== undefined) return ctx.skip(need.missing);
  const went = await prompt(need.path, [flag]);
  expect(went.said).toContain("It is 42, says the crew.");
  expect(went.made, went.said).toBe(made);
});
