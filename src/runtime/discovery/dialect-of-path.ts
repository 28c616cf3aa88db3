import { existsSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { agentFamilies, type Row } from "./sources.ts";

/**
 * The format of an agent file, its path relative to the folder that was searched, and the program that it was written
 * for.
 */
export type DialectPlace = Readonly<{ dialect: string; relative: string; family: string }>;

/** Finds the file format of a file by its path; `undefined` when the path does not tell. */
export function dialectPlaceOf(file: string): DialectPlace | undefined {
  const path = file.split(sep).join("/");
  const places = agentFamilies
    .flat()
    .flatMap((row) => [...row.project, ...row.user].map((place) => matched(row, place, path)));
  const [deepest] = places.filter((place) => place !== undefined).sort((a, b) => a.relative.length - b.relative.length);
  return deepest ?? byName(path) ?? inPlugin(file);
}

function matched({ family, dialect, folders }: Row, place: string, path: string): DialectPlace | undefined {
  if (path.endsWith(`/${place}`)) return { dialect, family, relative: basename(path) };
  const at = path.lastIndexOf(`/${place}/`);
  if (at === -1) return undefined;
  const relative = path.slice(at + place.length + 2);
  return folders === undefined || relative.endsWith(`/${folders}`) ? { dialect, family, relative } : undefined;
}

/** Finds the file format by a file name that only one file format uses. */
function byName(path: string): DialectPlace | undefined {
  const name = basename(path);
  if (name === "SUBAGENT.md")
    return { dialect: "subagent", family: "subagent", relative: `${basename(dirname(path))}/${name}` };
  if (name.endsWith(".agent.md")) return { dialect: "copilot", family: "copilot", relative: name };
  return undefined;
}

/** Recognises the `agents` folder of a plugin by its neighbouring files. */
function inPlugin(file: string): DialectPlace | undefined {
  for (let dir = dirname(file); dirname(dir) !== dir; dir = dirname(dir)) {
    if (basename(dir) === "agents" && existsSync(join(dirname(dir), ".claude-plugin")))
      return {
        dialect: "claude",
        family: "claude",
        relative: file
          .slice(dir.length + 1)
          .split(sep)
          .join("/"),
      };
  }
  return undefined;
}
