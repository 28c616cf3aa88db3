import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { showHidden } from "../../core/agent/hidden-characters.ts";
import { agentRuleText } from "../../core/rules/agent-rule.ts";
import { CrewError } from "../../core/schema/error.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { describeServer } from "../../core/vocabulary/mcp-server.ts";
import { findAgents, findCommands, findSkills } from "../../defaults.ts";
import { projectRoot } from "../../runtime/discovery/places.ts";
import { openTrust, type TrustStore } from "../../runtime/settings/trust.ts";
import { grantOf, type ProjectSource, reviewTrust, type TrustReview } from "../../runtime/settings/trust-review.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { stdoutLook, terminal } from "../base/terminal.ts";
import { askYes } from "../terminal/confirm.ts";

/** `subcrew trust` */
export async function trustProject(flags: Flags): Promise<number> {
  const cwd = folderOf(flags.cwd);
  const home = process.env["HOME"] ?? homedir();
  const store = openTrust(join(process.env["SUBCREW_HOME"] ?? join(home, ".subcrew"), "trust.json"));
  if (flags.list) return list(store, flags);
  const reviews = await reviewTrust({
    cwd,
    home,
    granted: store.granted,
    looking: [
      { kind: "agent", find: (trust) => findAgents({ cwd, home, trust }) },
      { kind: "skill", find: async (trust) => (await findSkills({ cwd, home, trust })).discovery },
      { kind: "command", find: async (trust) => (await findCommands({ cwd, home, trust })).discovery },
    ],
  });
  const root = realpathSync.native(projectRoot(cwd, home));
  return flags.revoke
    ? revoke(store, [...new Set([root, ...reviews.map((one) => one.root)])], flags)
    : agree(store, reviews, flags);
}

function folderOf(cwd: string | undefined): string {
  const folder = resolve(cwd ?? ".");
  if (existsSync(folder)) return folder;
  throw new CrewError(
    "BAD_FILE",
    `--cwd: there is no folder "${cwd}".`,
    "Check the path; it starts from the folder you are in.",
  );
}

function list(store: TrustStore, flags: Flags): number {
  const rows = store.list().map((root) => {
    const { at = "", files = {} } = store.granted(root) ?? {};
    return { root, since: at.slice(0, 10), files: Object.keys(files).length, there: existsSync(root) };
  });
  if (flags.json) process.stdout.write(`${jsonText(rows, 2)}\n`);
  else if (rows.length === 0) process.stderr.write("No project is trusted.\n");
  else {
    const shown = rows.map(({ root, since, files, there }) => ({
      since,
      files: `${files} files`,
      root: there ? root : `${root} (gone)`,
    }));
    process.stdout.write(table(shown, stdoutLook(flags)));
  }
  return 0;
}

async function revoke(store: TrustStore, roots: readonly string[], flags: Flags): Promise<number> {
  const taken: string[] = [];
  for (const root of roots) if (await store.revoke(root)) taken.push(root);
  if (flags.json) process.stdout.write(`${jsonText({ revoked: taken })}\n`);
  else
    process.stdout.write(
      taken.length === 0
        ? "This project was not trusted.\n"
        : taken.map((root) => `${root} is no longer trusted\n`).join(""),
    );
  return 0;
}

async function agree(store: TrustStore, reviews: readonly TrustReview[], flags: Flags): Promise<number> {
  const open = reviews.filter(({ brought, gone }) => gone.length > 0 || brought.some(({ state }) => state !== "same"));
  const asking = open.some(({ brought }) => brought.some(({ state }) => state !== "same"));
  if (flags.json) process.stdout.write(`${jsonText(reviews.map(dataOf), 2)}\n`);
  else show(reviews, flags);
  if (!asking) {
    if (!flags.json)
      process.stderr.write(
        reviews.length === 0
          ? "This project has no files that need trust.\n"
          : "Nothing changed since you trusted it.\n",
      );
    for (const review of open) await store.grant(review.root, grantOf(review, new Date()));
    return 0;
  }
  if (!flags.yes && !(await isAgreed(flags))) {
    process.stderr.write("The project was not trusted.\n");
    return 3;
  }
  for (const review of open) await store.grant(review.root, grantOf(review, new Date()));
  if (!flags.json) process.stderr.write(open.map(({ root }) => `${root} is trusted\n`).join(""));
  return 0;
}

/** Without a terminal there is no confirmation. */
async function isAgreed(flags: Flags): Promise<boolean> {
  if (flags.json || !terminal(flags).attended)
    throw new CrewError(
      "UNTRUSTED",
      "There is no terminal to confirm it on.",
      "Look at the list, then run `subcrew trust --yes`.",
    );
  return askYes("Trust these files as they are now?");
}

function show(reviews: readonly TrustReview[], flags: Flags): void {
  const look = stdoutLook(flags);
  for (const { root, brought, gone, since } of reviews) {
    const rows = [
      ...brought.map(rowOf),
      ...gone.map((file) => ({ state: "gone", what: "", file, hash: "", wishes: "" })),
    ];
    const agreed = since === undefined ? "not trusted" : `trusted since ${since.slice(0, 10)}`;
    process.stdout.write(`${look.colors.bold(root)}  ${agreed}\n${table(rows, look, { what: 30, file: 40 })}`);
  }
}

const rowOf = ({ state, kind, names, file, hash, hidden, found }: ProjectSource): Record<string, string> => ({
  state,
  what: [kind, ...names].join(" "),
  file: showHidden(file),
  hash: hash.slice(0, 12),
  wishes: [...(hidden ? ["CONTAINS HIDDEN CHARACTERS"] : []), ...(kind === "agent" ? found.map(wishesOf) : [])].join(
    "; ",
  ),
});

/** What an agent asks for, so that a person can judge. */
function wishesOf({ agent }: ProjectSource["found"][number]): string {
  const { tools, disallowedTools = [], rules = [], permission, spawns, model, mcpServers = {} } = agent;
  return [
    ...Object.entries(mcpServers).flatMap(([name, server]) =>
      server === true ? [] : [`MCP server ${name}: ${showHidden(describeServer(server))}`],
    ),
    tools === undefined || tools.includes("*") ? "every tool" : tools.length === 0 ? "no tools" : tools.join(", "),
    ...(disallowedTools.length === 0 ? [] : [`not ${disallowedTools.join(", ")}`]),
    ...rules.flat().map(agentRuleText),
    ...(permission === undefined ? [] : [`permission ${permission}`]),
    ...(spawns === undefined || spawns.length === 0
      ? []
      : [`starts ${spawns === "*" ? "any agent" : spawns.join(", ")}`]),
    ...(model === undefined ? [] : [`model ${[model].flat().join(", ")}`]),
  ].join("; ");
}

const dataOf = ({ root, brought, gone, since }: TrustReview): unknown => ({
  root,
  since: since ?? null,
  gone,
  files: brought.map(({ found, ...rest }) => ({ ...rest, tools: found.map(({ agent }) => agent.tools ?? null) })),
});
