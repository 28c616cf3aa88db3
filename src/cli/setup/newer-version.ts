import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { version } from "../../core/text/version.ts";
import { readSettings } from "../../defaults.ts";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { homes } from "../base/home.ts";

/** A version check that runs in parallel to the command; `end` returns the notice, if any. */
export type VersionCheck = Readonly<{ end(): Promise<string | undefined> }>;

const DAY_MS = 24 * 60 * 60_000;
/** How long a finished command waits for the answer of the npm registry about newer versions. */
const PATIENCE_MS = 500;
/** The timeout of the request to the registry. */
const REQUEST_MS = 5_000;

type Known = Readonly<{ checkedAt: number; noticedAt: number; latest: string }>;

/**
 * Asks the npm registry for the newest version, at most once a day. The caller makes sure that a person reads the
 * notice. A project cannot choose the registry, so its `.npmrc` is not read.
 */
export function checkVersion(now: number): VersionCheck {
  const { home, state } = homes();
  const file = join(state, "version-check.json");
  const known = knownIn(file);
  const isDue = now - known.checkedAt >= DAY_MS;
  if ((!isDue && !isNewer(known.latest, version)) || !isWanted(home, state)) return { end: async () => undefined };
  const over = new AbortController();
  const asked = isDue ? latestVersion(registryOf(home), over.signal) : Promise.resolve(known.latest);
  return {
    end: async () => {
      const late = setTimeout(() => over.abort(), PATIENCE_MS);
      const latest = (await asked) ?? known.latest;
      clearTimeout(late);
      const tells = isNewer(latest, version) && now - known.noticedAt >= DAY_MS;
      const next = { checkedAt: isDue ? now : known.checkedAt, noticedAt: tells ? now : known.noticedAt, latest };
      await mkdir(state, { recursive: true, mode: 0o700 });
      await writeAtomic(file, `${JSON.stringify(next)}\n`);
      return tells
        ? `subcrew ${latest} is available; this is ${version}. Update with \`npm install -g subcrew\`; \`subcrew config set updates off\` stops this notice.`
        : undefined;
    },
  };
}

function knownIn(file: string): Known {
  const nothing: Known = { checkedAt: 0, noticedAt: 0, latest: "" };
  try {
    const data: unknown = parseJson(readRegularTextSync(file));
    if (!isRecord(data)) return nothing;
    const { checkedAt, noticedAt, latest } = data;
    return {
      checkedAt: typeof checkedAt === "number" ? checkedAt : 0,
      noticedAt: typeof noticedAt === "number" ? noticedAt : 0,
      latest: typeof latest === "string" ? latest : "",
    };
  } catch {
    return nothing;
  }
}

/** True unless the user's settings turn update checks off. Project settings are ignored. */
function isWanted(home: string, state: string): boolean {
  try {
    const trust = { project: () => false };
    return readSettings({ cwd: state, home, state, env: process.env, trust }).config.updates !== "off";
  } catch {
    return false; // the command itself reports broken settings
  }
}

/** The npm registry, from the environment, the user's or the machine's `.npmrc`. */
export function registryOf(home: string, env: NodeJS.ProcessEnv = process.env): string {
  const named = env["npm_config_registry"] ?? env["NPM_CONFIG_REGISTRY"];
  const files = [
    env["npm_config_userconfig"] ?? env["NPM_CONFIG_USERCONFIG"] ?? join(home, ".npmrc"),
    env["npm_config_globalconfig"] ?? join(dirname(dirname(process.execPath)), "etc", "npmrc"),
  ];
  return named ?? files.map((path) => registryIn(path, env)).find((each) => each !== undefined) ?? DEFAULT;
}

const DEFAULT = "https://registry.npmjs.org/";

function registryIn(path: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    const [, value] = /^\s*registry\s*=\s*"?([^"\s;#]+)/m.exec(readRegularTextSync(path)) ?? [];
    return value?.replace(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
  } catch {
    return undefined;
  }
}

/** The newest published version; `undefined` when the registry returns none. No credentials are sent. */
async function latestVersion(registry: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const url = new URL("-/package/subcrew/dist-tags", registry.endsWith("/") ? registry : `${registry}/`);
    const reply = await fetch(url, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      headers: { accept: "application/json" },
    });
    const tags: unknown = reply.ok ? parseJson((await reply.text()).slice(0, 10_000)) : undefined;
    return isRecord(tags) && typeof tags["latest"] === "string" ? tags["latest"] : undefined;
  } catch {
    return undefined;
  }
}

/** True for a later release. Pre-releases and unreadable versions never count as newer. */
export function isNewer(latest: string, than: string): boolean {
  const [a, b] = [latest, than].map((text) => /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})$/.exec(text)?.slice(1).map(Number));
  if (!a || !b) return false;
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}
