import type {
  AgentConnection,
  ContentBlock,
  McpServer as EditorServer,
  PromptResponse,
  SessionUpdate,
  ToolKind,
} from "@agentclientprotocol/sdk";
import { CrewError } from "../core/schema/error.ts";

/** The ACP library. Only this file imports it, and only when an editor is served. */
export type AcpSdk = typeof import("@agentclientprotocol/sdk");
/** The connection to the editor, for updates and permission requests. */
export type EditorClient = AgentConnection["client"];
export type StopReason = PromptResponse["stopReason"];
export type { ContentBlock, EditorServer, SessionUpdate, ToolKind };

export async function loadAcpSdk(): Promise<AcpSdk> {
  return import("@agentclientprotocol/sdk").catch((cause: unknown) => {
    const hint = "Install the package: npm install @agentclientprotocol/sdk";
    throw new CrewError("MISSING_PEER", "Serving editors over ACP needs the package @agentclientprotocol/sdk.", hint, {
      cause,
    });
  });
}
