import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { commands } from "../../src/cli/commands.ts";
import { config, isProjects } from "../../src/core/config/config.ts";
import { configVariables } from "../../src/core/config/variables.ts";
import { agentFamilies } from "../../src/runtime/discovery/sources.ts";
import { commandFamilies, skillFamilies } from "../../src/runtime/discovery/workflow-sources.ts";
import { withSources } from "../coverage-sources.mjs";
import { apiPage } from "./api-page.ts";
import { cliPage } from "./cli-page.ts";
import { configPage, sourcesTable, withGenerated } from "./config-page.mjs";
import { errorsPage } from "./errors-page.ts";
import { eventsTables } from "./events-tables.ts";
import { fieldsTables } from "./fields-tables.ts";
import { runnersTable } from "./runners-table.ts";

/** Creates the new text of a page from the old one. */
export type Make = (old: string) => string;

/** All generated pages, by path; some are generated only between marks. */
export async function generatedPages(root: string): Promise<Readonly<Record<string, Make>>> {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const loaded = await Promise.all(
    Object.entries(commands)
      .filter(([, row]) => row.hidden !== true)
      .map(async ([name, row]) => ({ name, summary: row.summary, group: row.group, command: await row.load() })),
  );
  const schema = z.toJSONSchema(config, { io: "input" });
  return {
    "docs/config.md": () => configPage({ schema, variables: configVariables(), isProjects }),
    "docs/cli.md": () => cliPage(loaded),
    "docs/errors.md": () => errorsPage(),
    "docs/api.md": () => apiPage(read),
    "docs/events.md": (old) =>
      withGenerated(withGenerated(old, "events", eventsTables().events), "result", eventsTables().result),
    "docs/agents.md": (old) =>
      Object.entries({
        sources: sourcesTable(agentFamilies),
        skills: sourcesTable(skillFamilies),
        commands: sourcesTable(commandFamilies),
        fields: fieldsTables(read),
      }).reduce((text, [name, table]) => withGenerated(text, name, table), old),
    "docs/runners.md": (old) => withGenerated(old, "runners", runnersTable()),
    "docs/coverage.md": (old) => withSources(old, read),
  };
}
