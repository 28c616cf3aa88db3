import { homedir } from "node:os";
import { join } from "node:path";
import { jsonText } from "../../core/text/json-text.ts";
import type { PlaceReport } from "../../runtime/discovery/discover.ts";
import { type PresetName, presets, type Row } from "../../runtime/discovery/sources.ts";
import type { Flags } from "../base/flags.ts";
import { table } from "../base/table.ts";
import { stdoutLook } from "../base/terminal.ts";
import { crewFor } from "../launch/start.ts";

/** One row of the list: a location where agents are searched for, and the agents found there. */
type Place = Readonly<{
  family: string;
  scope: "project" | "user" | "plugin" | "bundled";
  dialect: string;
  path: string;
  found: boolean;
  trusted?: boolean;
  files?: number;
  agents: readonly string[];
  problem?: string;
}>;

/** The command `subcrew agents sources`. */
export async function sources(_: readonly string[], flags: Flags): Promise<number> {
  const crew = await crewFor(flags);
  const { config } = crew.settings;
  const preset = presets[(config.preset ?? "unified") satisfies PresetName];
  const discovery = await crew.agents();
  const bundled = [...discovery.agents, ...discovery.shadowed.map(({ found }) => found), ...discovery.disabled];
  const ours = bundled.filter(({ agent }) => agent.source?.kind === "bundled").map(({ name }) => name);
  const listed = placesOf(preset.families, {
    order: config.order ?? preset.order,
    scope: config.scope ?? preset.scope,
    reports: discovery.sources,
    home: process.env["HOME"] ?? homedir(),
  });
  const rows: Place[] = [
    ...listed,
    { family: "bundled", scope: "bundled", dialect: "own", path: "", found: true, trusted: true, agents: ours },
  ];
  process.stdout.write(
    flags.json ? `${jsonText(rows, 2)}\n` : table(rows.map(cells), stdoutLook(flags), { place: 40 }),
  );
  return 0;
}

type Listing = Readonly<{
  order: string;
  scope: string;
  reports: readonly PlaceReport[];
  home: string;
}>;

/** All locations in search order, including locations that do not exist. */
function placesOf(families: readonly (readonly Row[])[], { order, scope, reports, home }: Listing): Place[] {
  const wanted = (which: string): boolean => scope === "both" || scope === which;
  const project = families.map((rows) => (wanted("project") ? rows.flatMap((row) => projectPlaces(row, reports)) : []));
  const user = families.map((rows) => (wanted("user") ? rows.flatMap((row) => userPlaces(row, reports, home)) : []));
  const inFamilies =
    order === "scope-first"
      ? [...project.flat(), ...user.flat()]
      : families.flatMap((_, index) => [...project[index]!, ...user[index]!]);
  return [...inFamilies, ...reports.filter(({ scope: whose }) => whose === "plugin").map(placeOf)];
}

/** The locations of a project. A location that does not exist is listed with its relative path. */
function projectPlaces(row: Row, reports: readonly PlaceReport[]): Place[] {
  const there = reports.filter(({ family, scope }) => family === row.family && scope === "project");
  return row.project.flatMap((path) => {
    const found = there.filter((report) => report.path.endsWith(`/${path}`));
    return found.length > 0 ? found.map(placeOf) : [missing(row, "project", path)];
  });
}

function userPlaces(row: Row, reports: readonly PlaceReport[], home: string): Place[] {
  return row.user.map((path) => {
    const whole = join(home, path);
    const found = reports.find((report) => report.scope === "user" && report.path === whole);
    return found === undefined ? missing(row, "user", `~/${path}`) : placeOf(found);
  });
}

const missing = ({ family, dialect }: Row, scope: "project" | "user", path: string): Place => ({
  family,
  scope,
  dialect,
  path,
  found: false,
  agents: [],
});

const placeOf = ({ family, scope, dialect, path, plugin, trusted, files, agents, problem }: PlaceReport): Place => ({
  family: plugin ?? family,
  scope,
  dialect,
  path,
  found: true,
  trusted,
  files,
  agents,
  ...(problem === undefined ? {} : { problem: problem.message }),
});

function cells({ family, scope, path, found, trusted, files = 0, agents, problem }: Place): Record<string, string> {
  return { family, scope, place: path === "" ? "built in" : path, held: heldText() };

  function heldText(): string {
    if (!found) return "-";
    if (problem !== undefined) return problem;
    const names = agents.length === 0 ? (files === 0 ? "nothing" : `${files} files, no agent`) : agents.join(", ");
    return trusted === false ? `not trusted: ${names}` : names;
  }
}
