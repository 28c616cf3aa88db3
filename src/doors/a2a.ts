export { type A2aServer, type A2aServerOptions, serveA2a } from "../a2a/server.ts";
export {
  extractIds,
  extractMessageText,
  extractTaskText,
  foldRemote,
  nextIds,
  type RemoteAnswer,
  type RemoteIds,
  type RemoteMessage,
  type RemotePart,
  type RemoteState,
  type RemoteTask,
  type RemoteUpdate,
} from "../core/net/a2a.ts";
export type { RemoteAgentCard } from "../runners/a2a/a2a-sdk.ts";
export {
  A2AClientManager,
  type A2AClientOptions,
  type RemoteConversation,
} from "../compat/gemini/a2a-client-manager.ts";
