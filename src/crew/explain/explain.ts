import { instructionFilesOf } from "../../core/agent/instruction-files.ts";
import type { Choice, ModelWish } from "../../core/model/choose.ts";
import { barred } from "../../core/policy/judge-call.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { defined } from "../../core/text/defined.ts";
import { describeServer } from "../../core/vocabulary/mcp-server.ts";
import { isOfServer, type KnownServer } from "../../core/vocabulary/server-patterns.ts";
import { DELEGATION_TOOL, MCP_PREFIX } from "../../core/vocabulary/tool-names.ts";
import type { CrewSetup } from "../outfit/setup.ts";
import { instructionPlace } from "../outfit/instructions.ts";
import type { Outfit } from "../outfit/outfit.ts";
import type { FoundAgent } from "../../runtime/discovery/discover.ts";
import { type ProjectInstructions, readInstructions } from "../../runtime/discovery/project-instructions.ts";
import { loop } from "../../runtime/loop/loop.ts";
import type { LoadedConfig } from "../../runtime/settings/load-config.ts";
import { barredBy } from "../../runtime/task/assign-tools.ts";
import { serversOf } from "../../tools/mcp/servers.ts";
import { type AgentExplanation, type ExplainedCall, explainAgent } from "./explain-agent.ts";

/** An explanation of an agent as it would be executed, including its model. */
export type Explanation = AgentExplanation & Readonly<{ model: Choice; projectInstructions: ExplainedInstructions }>;

/**
 * The project's instructions for the agent: the files that are used, the files that were left out, or why there are
 * none.
 */
export type ExplainedInstructions = Omit<ProjectInstructions, "text"> & Readonly<{ why?: string }>;

export type ExplainParts = Readonly<{ outfit: Outfit; setup: CrewSetup; settings: LoadedConfig }>;

/**
 * Explains an agent with the tools, the servers, the permissions and the settings of a crew. No server and no agent is
 * started.
 */
export async function explainFor(
  found: FoundAgent,
  call: ExplainedCall,
  { outfit, setup, settings }: ExplainParts,
): Promise<Explanation> {
  const { tools, access } = await outfit.worldFor({ find: () => undefined, names: () => [] }, loop);
  const { dialects } = await import("../../formats/table.ts");
  const policy = access?.policyFor(found.agent);
  const ours = policy ? barredBy({ tools }, policy) : {};
  const explained = explainAgent(found, {
    dialects,
    call,
    tools: [...tools.keys(), DELEGATION_TOOL],
    servers: serversFor(found, setup.mcpServers ?? {}),
    barredBy: (tool) => (isOfServer(tool) ? policy && barredServer(tool, policy) : ours[tool]),
    placeOf: settings.placeOf,
  });
  return {
    ...explained,
    model: outfit.models.look(wishesOf(found, call), "call"),
    projectInstructions: instructionsOf(found, setup),
  };
}

function instructionsOf({ agent }: FoundAgent, setup: CrewSetup): ExplainedInstructions {
  const files = instructionFilesOf(agent.source, agent.projectInstructions);
  if (agent.remote || "why" in files)
    return { files: [], left: [], why: "why" in files ? files.why : "not for remote agents" };
  const { files: told, left } = readInstructions(files, instructionPlace(setup, setup.cwd));
  return { files: told, left };
}

/**
 * The rule that forbids a tool of an MCP server. Such a tool is always judged like a program that changes something,
 * whatever the server says about it.
 */
const barredServer = (pattern: string, policy: Policy): string | undefined =>
  barred(policy, { tool: `${MCP_PREFIX}${pattern}`, does: "exec", effect: "write" });

/** The servers that an agent has, and the user's servers that it does not get. */
function serversFor({ agent }: FoundAgent, users: NonNullable<CrewSetup["mcpServers"]>): KnownServer[] {
  const its = serversOf(agent, users);
  const others = Object.entries(users).filter(([name]) => !its.some((one) => one.name === name));
  return [
    ...its.map(({ name, definition: { enabled, tools, ...definition } }) => ({
      name,
      what: describeServer(definition),
      ...defined({ tools }),
      ...(enabled === false && { shut: "off" as const }),
    })),
    ...others.map(([name, definition]) => ({
      name,
      what: describeServer(definition),
      shut: "unlisted" as const,
    })),
  ];
}

function wishesOf({ agent }: FoundAgent, { model }: ExplainedCall): readonly ModelWish[] {
  return [
    ...(model === undefined ? [] : [{ by: "call" as const, names: model }]),
    ...(agent.model === undefined ? [] : [{ by: "agent" as const, names: agent.model }]),
  ];
}
