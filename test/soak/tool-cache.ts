import { execFile } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Need } from "../needs.ts";

/** The folder in which the commands of other tools are installed: outside of the project, and once for all runs. */
const cache = process.env["SUBCREW_TEST_TOOLS"] ?? join(homedir(), ".cache", "subcrew-test-tools");

const system = `${process.platform}-${process.arch}`;

/** The package of each tool, and the possible paths of its program in it: some have one file for each system. */
const packages: Readonly<Record<string, readonly [name: string, ...files: string[]]>> = {
  claude: ["@anthropic-ai/claude-code", `@anthropic-ai/claude-code-${system}/claude`],
  codex: ["@openai/codex", ".bin/codex"],
  gemini: ["@google/gemini-cli", ".bin/gemini"],
  opencode: ["opencode-ai", `opencode-${system}/bin/opencode`],
  copilot: ["@github/copilot", ".bin/copilot"],
  acpx: ["acpx", ".bin/acpx"],
  "claude-agent-acp": ["@agentclientprotocol/claude-agent-acp", ".bin/claude-agent-acp"],
  "codex-acp": ["@agentclientprotocol/codex-acp", ".bin/codex-acp"],
  conformance: ["@modelcontextprotocol/conformance", ".bin/conformance"],
  node: [`node-${system}@22`, `node-${system}/bin/node`],
  pi: ["@earendil-works/pi-coding-agent", ".bin/pi"],
};

/** The folder with the real command of a tool, installed if possible, or the reason why not. */
export async function realTool(tool: string): Promise<Need> {
  const [name = "", ...files] = packages[tool] ?? [];
  const folder = join(cache, tool);
  const found = (): string | undefined =>
    files.map((file) => join(folder, "node_modules", file)).find((file) => existsSync(file));
  if (found() === undefined) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"private":true}\n');
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", name];
    try {
      await promisify(execFile)("npm", args, { cwd: folder, timeout: 180_000 });
    } catch (error) {
      return { missing: `${name} could not be installed: ${String(error).split("\n")[0]}` };
    }
  }
  const program = found();
  if (program === undefined) return { missing: `${name} has no program for ${system}` };
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  rmSync(join(bin, tool), { force: true });
  symlinkSync(program, join(bin, tool));
  return { path: bin };
}

/** True for a path below the temporary folder of the system. */
export const isTemporary = (path: string): boolean => `${realpathSync(path)}/`.startsWith(`${realpathSync(tmpdir())}/`);

/** A home folder next to the commands: some of them refuse to work below a temporary folder. */
export function toolHome(tool: string, files: Readonly<Record<string, string>>): string {
  const home = join(cache, tool, "home");
  rmSync(home, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, ".."), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  mkdirSync(home, { recursive: true });
  return home;
}
