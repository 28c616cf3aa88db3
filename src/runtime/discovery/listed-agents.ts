import { basename, dirname } from "node:path";
import type { SkippedAgent } from "../../core/delegation/catalog.ts";
import { distrustText } from "./distrust.ts";
import { type Discovery, type FoundAgent, findAgent, qualifiedNames, type SkippedFile } from "./discover.ts";
import { presets } from "./sources.ts";

type State = "ready" | "unlisted" | "shadowed" | "untrusted" | "disabled" | "skipped";

/** An agent in a list of all agents. */
export type AgentListing = Readonly<{
  name: string;
  state: State;
  /** Why the agent cannot run or is not listed. */
  reason?: string;
  description: string;
  model: string | readonly string[] | null;
  tools: readonly string[] | null;
  /** The address of a remote agent. */
  remote?: string;
  source: string;
  family?: string;
  dialect?: string;
  plugin?: string;
  file?: string;
  also: readonly string[];
}>;

/** Every offered agent, then those that only run by name, then those that cannot run, each with the reason. */
export function listedAgents(found: Discovery): readonly AgentListing[] {
  return [
    ...found.agents.map((one) => rowOf(one, "ready")),
    ...found.unlisted.map((one) => rowOf(one, "unlisted", unlistedText(one, found))),
    ...others(found),
  ];
}

/** What an unlisted agent is, and the shortest name that starts it. */
function unlistedText(one: FoundAgent, found: Discovery): string {
  const family = one.agent.source?.family;
  const name = [one.name, ...qualifiedNames(one)].find((each) => findAgent(found, each) === one) ?? one.name;
  const owner = family !== undefined && Object.hasOwn(presets, family) ? `the preset ${family}` : "subcrew";
  return `an agent of ${owner}; runs as ${name}`;
}

function rowOf(found: FoundAgent, state: State, reason?: string): AgentListing {
  const { agent, file } = found;
  const { kind = "inline", family, dialect, plugin } = agent.source ?? {};
  return {
    name: found.name,
    state,
    ...(reason === undefined ? {} : { reason }),
    description: agent.description,
    model: agent.model ?? null,
    tools: agent.tools ?? null,
    ...(agent.remote === undefined ? {} : { remote: agent.remote.cardUrl ?? "the agent card in the agent's file" }),
    source: kind,
    ...(family === undefined ? {} : { family }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(plugin === undefined ? {} : { plugin }),
    ...(file === undefined ? {} : { file }),
    also: qualifiedNames(found),
  };
}

/** The agents that were found but are not used, each with the reason. */
function others({ shadowed, untrusted, disabled, skipped }: Discovery): AgentListing[] {
  return [
    ...shadowed.map(({ found, by }) => rowOf(found, "shadowed", `shadowed by ${placeOf(by)}`)),
    ...untrusted.map((one) => rowOf(one, "untrusted", distrustText[one.distrust ?? "project"])),
    ...disabled.map((one) =>
      rowOf(one, "disabled", one.read.disabled ? "disabled in its file" : "disabled in the settings"),
    ),
    ...skipped.map(skippedRow),
  ];
}

const placeOf = ({ file, agent }: FoundAgent): string => file ?? `the ${agent.source?.kind ?? "inline"} agent`;

/** The skipped files as they may be asked for: by the name of the agent, of the file, or of its folder. */
export function skippedAgents(skipped: readonly SkippedFile[]): SkippedAgent[] {
  return skipped.flatMap(({ name, file, problems }) => {
    const own = file === undefined ? [] : [basename(file).replace(/(?:\.agent)?\.[^.]+$/, ""), basename(dirname(file))];
    const names = [...new Set([...(name === undefined ? [] : [name]), ...own])];
    return [{ names, why: `${file ?? "Its definition"} is skipped: ${reasonOf({ problems })}` }];
  });
}

const reasonOf = ({ problems }: Pick<SkippedFile, "problems">): string =>
  (problems.find(({ severity }) => severity === "error") ?? problems[0])?.message ?? "the file contains no agent";

function skippedRow({ name, file, problems }: SkippedFile): AgentListing {
  return {
    name: name ?? "",
    state: "skipped",
    reason: reasonOf({ problems }),
    description: "",
    model: null,
    tools: null,
    source: "file",
    ...(file === undefined ? {} : { file }),
    also: [],
  };
}
