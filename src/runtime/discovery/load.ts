import { setImmediate } from "node:timers/promises";
import type { Agent, AgentSource } from "../../core/agent/agent.ts";
import type { Dialects, ReadAgent } from "../../core/agent/dialect.ts";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import { SKILL_FILE } from "../files/skill-folder.ts";
import type { DiscoveryCache } from "./cache.ts";
import { type CandidateFile, type FileReading, listAgentFiles, readAgentFile } from "./files.ts";
import { type Distrust, distrustOf, type Trust } from "./distrust.ts";
import type { SourceFolder } from "./places.ts";

/** One definition of an agent, before the definition with the highest precedence is chosen. */
export type LoadedDefinition = Readonly<{
  read: ReadAgent;
  /** The agent, including where it was found. */
  agent: Agent;
  /** The trust rank of the definition. The agent that it extends never has a lower rank. */
  rank: number;
  /** Why the agent cannot run; absent: it is trusted. */
  distrust?: Distrust;
  problems: readonly Problem[];
  file?: string;
  real?: string;
}>;

/** A file without a usable agent. */
export type SkippedFile = Readonly<{ file?: string; name?: string; problems: readonly Problem[] }>;

/** The agents and problems that were found in one place. */
export type PlaceReport = Readonly<{
  family: string;
  scope: SourceFolder["scope"];
  dialect: string;
  path: string;
  plugin?: string;
  trusted: boolean;
  files: number;
  agents: readonly string[];
  problem?: Problem;
}>;

export type LoadOptions = Readonly<{ dialects: Dialects; home: string; trust?: Trust; cache?: DiscoveryCache }>;

/** Reads every agent file of a place. Other work can run between two batches of files. */
export async function loadPlace(
  place: SourceFolder,
  options: LoadOptions,
): Promise<{ findings: LoadedDefinition[]; skipped: SkippedFile[]; report: PlaceReport }> {
  const dialect = options.dialects[place.dialect];
  const trusted = place.root === undefined || options.trust?.project(place.root) === true;
  const findings: LoadedDefinition[] = [];
  const skipped: SkippedFile[] = [];
  if (dialect === undefined) return { findings, skipped, report: report(place, { trusted, findings, files: 0 }) };
  const listing = listAgentFiles(place, dialect);
  const label = `${place.dialect} ${place.family} ${place.scope} ${place.plugin?.name ?? ""}`;
  const within = place.root ?? place.plugin?.path ?? options.home;
  const hashed = trusted && place.root !== undefined && options.trust?.file !== undefined;
  const scratch = Buffer.allocUnsafe(64 * 1024);
  const isClosed = place.root === undefined ? undefined : options.trust?.isClosed;
  const stamped = options.cache !== undefined;
  const skill = place.folders === SKILL_FILE;
  const trusting = { ...options, trusted };
  let count = 0;
  for (const file of listing.files) {
    if (++count % BATCH === 0) await setImmediate();
    if (file.outside && !trusted) {
      skipped.push({
        file: file.path,
        problems: [
          problem(
            "link-outside",
            `The file is a symbolic link that points outside of the project, to ${file.real ?? "somewhere"}.`,
          ),
        ],
      });
      continue;
    }
    const known = options.cache?.files.get(file.path);
    const reusable = known?.place === label ? known : undefined;
    const source = sourceOf(place, file.path);
    const reader = { within, hashed, scratch, stamped, skill, isClosed, source, known: reusable?.reading };
    const reading = readAgentFile(file, dialect, reader);
    if (reading !== known?.reading) options.cache?.files.set(file.path, { reading, place: label });
    if (reading.agents.length === 0) {
      if (reading.problems.length > 0) skipped.push({ file: file.path, problems: reading.problems });
    } else add(findings, reading, { place, file, distrust: distrusted(reading, place, file, trusting) });
  }
  return {
    findings,
    skipped,
    report: report(place, { trusted, findings, files: listing.files.length, problem: listing.problem }),
  };
}

const BATCH = 200;

/**
 * Trust ranks of definitions: definitions of the user and of plugins are trusted more than definitions of a project.
 */
const RANKS = { user: 2, plugin: 2, project: 1 } as const;

function add(
  findings: LoadedDefinition[],
  { agents, problems }: FileReading,
  { place, file, distrust }: { place: SourceFolder; file: CandidateFile; distrust: Distrust | undefined },
): void {
  let untold = problems; // makes sure that the problems of a file with several agents are reported once
  for (const each of agents) {
    const read: ReadAgent = place.plugin?.disabled ? { ...each, disabled: true } : each;
    const finding: { -readonly [K in keyof LoadedDefinition]: LoadedDefinition[K] } = {
      read,
      agent: read.agent,
      rank: RANKS[place.scope],
      problems: untold,
      file: file.path,
    };
    if (file.real !== undefined) finding.real = file.real;
    if (distrust !== undefined) finding.distrust = distrust;
    findings.push(finding);
    untold = [];
  }
}

/** Why a file is not trusted: it changed since it was trusted, or it has hidden characters that were not trusted. */
function distrusted(
  { hash, hidden, unchecked }: FileReading,
  { root }: SourceFolder,
  file: CandidateFile,
  { trust, trusted }: LoadOptions & Readonly<{ trusted: boolean }>,
): Distrust | undefined {
  if (root !== undefined && unchecked) return "unchecked";
  return root === undefined
    ? undefined
    : distrustOf({ root, path: file.real ?? file.path, hash, hidden, named: file.real !== undefined }, trust, trusted);
}

/** Where the agents of a file were found. */
function sourceOf({ scope, family, dialect, plugin }: SourceFolder, file: string): AgentSource {
  const source = { kind: scope, file, family, dialect };
  return plugin === undefined ? source : { ...source, plugin: plugin.name, pluginScope: plugin.scope };
}

type Held = {
  readonly trusted: boolean;
  readonly findings: readonly LoadedDefinition[];
  readonly files: number;
  readonly problem?: Problem | undefined;
};

const report = (place: SourceFolder, { trusted, findings, files, problem: wrong }: Held): PlaceReport => ({
  family: place.family,
  scope: place.scope,
  dialect: place.dialect,
  path: place.path,
  ...(place.plugin === undefined ? {} : { plugin: place.plugin.name }),
  trusted,
  files,
  agents: findings.map(({ agent }) => agent.name),
  ...(wrong === undefined ? {} : { problem: wrong }),
});
