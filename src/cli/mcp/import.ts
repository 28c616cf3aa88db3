import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { suggestion } from "../../core/plan/check.ts";
import { CrewError, messageOf } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { describeServer, type McpServer } from "../../core/vocabulary/mcp-server.ts";
import { type McpFile, mcpFiles, readMcpFile } from "../../formats/mcp-files.ts";
import { readConfigFile, userConfigFile, writeSettings } from "../base/config-file.ts";
import type { Flags } from "../base/flags.ts";
import { confirm } from "../terminal/confirm.ts";
import { homes } from "../base/home.ts";
import { terminalLine } from "../../core/view/words.ts";

type Found = Readonly<{ name: string; server: McpServer; file: string }>;

/**
 * `subcrew mcp import`: shows the MCP servers of other programs and copies them into the user's settings. No server is
 * started.
 */
export async function importServers([from]: readonly string[], flags: Flags): Promise<number> {
  const { home } = homes();
  const before = readConfigFile(userConfigFile());
  const { file } = before;
  const known = new Set(Object.keys(before.config.mcpServers ?? {}));
  const fresh = new Map<string, Found>();
  for (const place of placesFor(from, { cwd: resolve(flags.cwd ?? "."), home })) {
    for (const read of serversAt(place)) {
      const what = `${read.name}  (${place.file})`;
      if ("problem" in read) say(`skip    ${what}: ${read.problem}`);
      else if (isOurselves(read.server))
        say(`skip    ${what}: this server is subcrew itself; its agents are available without it`);
      else if (known.has(read.name) || fresh.has(read.name))
        say(`skip    ${what}: a server of this name already exists`);
      else fresh.set(read.name, { ...read, file: place.file });
    }
  }
  const found = [...fresh.values()];
  if (found.length === 0) {
    say("No MCP servers to import were found.");
    return 0;
  }
  for (const { name, server, file: origin } of found)
    say(`new     ${name}  (${origin})\n          ${describeServer(server)}`);
  say("A server program runs with your permissions whenever an agent uses it.");
  if (!(await confirm(`Import ${found.length === 1 ? "this server" : `these ${found.length} servers`}?`, flags)))
    return 3;
  await writeSettings(
    before,
    found.map(({ name, server }) => [["mcpServers", name], server]),
  );
  const names = found.map(({ name }) => name);
  process.stdout.write(
    flags.json
      ? `${jsonText({ file, added: names })}\n`
      : `${terminalLine(names.join(", "))} in ${terminalLine(file)}\n`,
  );
  return 0;
}

/** True when a server is subcrew itself, started by name, by path, through npx or with node. */
function isOurselves({ command = "", args = [] }: McpServer): boolean {
  const words = [command, ...args].map((word) => word.replaceAll("\\", "/"));
  const at = words.findIndex(
    (word) => /^subcrew(@[^/]*)?$/.test(basename(word).replace(/\.(cmd|exe|ps1|js)$/, "")) || isOurCommand(word),
  );
  return at !== -1 && words.slice(at + 1).includes("mcp");
}

/** True for the path of the subcrew command in an installed or built package. */
const isOurCommand = (word: string): boolean =>
  /(^|\/)subcrew\/dist\/cli\/main\.js$/.test(word) || resolve(word) === resolve(process.argv[1] ?? "");

const say = (text: string): void => void process.stderr.write(`${text.split("\n").map(reveal).join("\n")}\n`);

type Place = Pick<McpFile, "key"> & Readonly<{ file: string }>;

/** The files to import from: the files of one program, one given file, or all that exist. */
function placesFor(from: string | undefined, { cwd, home }: { cwd: string; home: string }): readonly Place[] {
  const all = mcpFiles.map((each) => ({ ...each, file: join(each.place === "home" ? home : cwd, each.path) }));
  const wanted = all.filter((each) => from === undefined || each.from === from);
  if (wanted.length > 0) return wanted.filter(({ file }) => existsSync(file));
  const file = resolve(from ?? "");
  if (!existsSync(file)) {
    const tools = [...new Set(mcpFiles.map((each) => each.from))];
    throw new CrewError(
      "BAD_FILE",
      `"${from}" is neither a known program nor a file.`,
      suggestion(from ?? "", tools, "Known programs"),
    );
  }
  const alike =
    all.find((each) => file.endsWith(`/${each.path}`)) ?? all.find((each) => basename(each.path) === basename(file));
  return [{ file, key: alike?.key ?? "mcpServers" }];
}

function serversAt({ file, key }: Place): ReturnType<typeof readMcpFile> {
  try {
    return readMcpFile({ path: file, key }, readRegularTextSync(file));
  } catch (error) {
    say(`skip    ${file}: ${messageOf(error)}`);
    return [];
  }
}
