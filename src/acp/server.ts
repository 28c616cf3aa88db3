import { isAbsolute } from "node:path";
import { Readable, Writable } from "node:stream";
import type { PolicyMode } from "../core/policy/policy.ts";
import { CrewError, isCrewError, messageOf } from "../core/schema/error.ts";
import { version } from "../core/text/version.ts";
import type { McpServers } from "../core/vocabulary/mcp-server.ts";
import type { ChatConversation } from "../crew/conversation.ts";
import type { Crew } from "../crew/crew-type.ts";
import { folderProblem } from "../runtime/access/folder-problem.ts";
import { onAbort } from "../runtime/async/on-abort.ts";
import { messageLines, MOST_MESSAGE_BYTES } from "../runtime/channel/message-lines.ts";
import { runId } from "../runtime/store/run-id.ts";
import { editorServers } from "./editor-servers.ts";
import { type PastMessage, pastMessages } from "./past-messages.ts";
import { promptText } from "./prompt-text.ts";
import { type EditorClient, type EditorServer, loadAcpSdk } from "./sdk.ts";
import { EditorSession } from "./session.ts";
import { modesFrom } from "./session-modes.ts";

/** The parameters of a new conversation in an editor. */
export type OpenedEditor = Readonly<{
  cwd: string;
  mode: PolicyMode;
  /** The MCP servers that the editor has configured. */
  servers: McpServers;
  /** The id of the first run, which is also the id of the session. */
  id: string;
}>;

export type AcpOptions = Readonly<{
  input: Readable;
  output: Writable;
  /** The permission mode of a new session. */
  mode: PolicyMode;
  open(what: OpenedEditor): Promise<Readonly<{ crew: Crew; talk: ChatConversation }>>;
  /** When this signal aborts, the server ends as if the editor had disconnected. */
  signal: AbortSignal;
  onError(error: unknown): void;
}>;

/**
 * Serves one editor over a pair of streams until one of the streams ends. Running prompts are then paused and can be
 * resumed.
 */
export async function serveAcp({ input, output, mode, open, signal, onError }: AcpOptions): Promise<void> {
  const acp = await loadAcpSdk();
  const sessions = new Map<string, EditorSession>();
  const available = modesFrom(mode);
  const named = (id: string): EditorSession => {
    const session = sessions.get(id);
    if (!session) throw acp.RequestError.resourceNotFound(id);
    return session;
  };
  /**
   * Runs the work of a request. A bad request gets an error with a hint. For an internal error, the editor gets its
   * message, and the error is reported.
   */
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof acp.RequestError) throw error;
      if (!isCrewError(error)) onError(error);
      throw isCrewError(error)
        ? new acp.RequestError(-32602, `${error.message} ${error.hint}`.trimEnd(), { code: error.code })
        : new acp.RequestError(-32603, messageOf(error));
    }
  };
  const begin = async (
    editor: EditorClient,
    { id, cwd, servers, last }: Readonly<{ id: string; cwd: string; servers: readonly EditorServer[]; last?: string }>,
  ): Promise<EditorSession> => {
    let current: Readonly<{ mode: PolicyMode; talk: ChatConversation }> | undefined;
    const talk = async (wanted: PolicyMode): Promise<ChatConversation> => {
      if (current?.mode === wanted) return current.talk;
      const before = current?.talk.last() ?? last;
      const opened = await open({ cwd, mode: wanted, servers: editorServers(servers), id });
      if (before !== undefined) opened.talk.moveTo(before);
      current = { mode: wanted, talk: opened.talk };
      return opened.talk;
    };
    // opens the conversation now, so that problems with the folder or the settings are reported at once
    await talk(mode);
    const session = new EditorSession({ id, editor, mode, talk, onError });
    sessions.set(id, session);
    return session;
  };
  const modesOf = (session: EditorSession) => ({
    modes: { currentModeId: session.mode(), availableModes: available.map((each) => ({ ...each })) },
  });

  const connection = acp
    .agent({ name: "subcrew" })
    .onRequest("initialize", () => ({
      protocolVersion: acp.PROTOCOL_VERSION,
      agentInfo: { name: "subcrew", version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        mcpCapabilities: { http: true },
      },
      authMethods: [],
    }))
    .onRequest("authenticate", () => ({}))
    .onRequest("session/new", ({ params, client }) =>
      told(async () => {
        await checkFolder(params.cwd);
        const id = runId(Math.random);
        const session = await begin(client, { id, cwd: params.cwd, servers: params.mcpServers });
        return { sessionId: id, ...modesOf(session) };
      }),
    )
    .onRequest("session/load", ({ params: { sessionId, cwd, mcpServers }, client }) =>
      told(async () => {
        await checkFolder(cwd);
        const { crew } = await open({ cwd, mode, servers: {}, id: sessionId });
        const past = await pastMessages(crew, sessionId);
        if (past.length === 0) throw acp.RequestError.resourceNotFound(sessionId);
        await replay(client, sessionId, past);
        const session = await begin(client, { id: sessionId, cwd, servers: mcpServers, last: past.at(-1)!.run });
        return modesOf(session);
      }),
    )
    .onRequest("session/set_mode", ({ params: { sessionId, modeId } }) => {
      const chosen = available.find(({ id }) => id === modeId);
      if (!chosen) throw acp.RequestError.invalidParams({ modeId });
      named(sessionId).setMode(chosen.id);
      return {};
    })
    .onRequest("session/prompt", ({ params: { sessionId, prompt } }) =>
      told(async () => ({ stopReason: await named(sessionId).prompt(promptText(prompt)) })),
    )
    .onNotification("session/cancel", ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel())
    .connect(
      acp.ndJsonStream(
        Writable.toWeb(output),
        Readable.toWeb(messageLines(input, (line) => output.write(line))) as ReadableStream<Uint8Array>,
        { maxMessageBytes: MOST_MESSAGE_BYTES },
      ),
    );
  const release = onAbort(signal, () => connection.close());
  if (signal.aborted) connection.close();
  await connection.closed;
  release();
  await Promise.all([...sessions.values()].map((session) => session.close("the editor disconnected")));
}

async function replay(editor: EditorClient, sessionId: string, past: readonly PastMessage[]): Promise<void> {
  for (const { prompt, answer } of past) {
    const chunks = [
      { sessionUpdate: "user_message_chunk" as const, text: prompt },
      { sessionUpdate: "agent_message_chunk" as const, text: answer },
    ].filter(({ text }) => text !== "");
    for (const { sessionUpdate, text } of chunks)
      await editor.notify("session/update", { sessionId, update: { sessionUpdate, content: { type: "text", text } } });
  }
}

async function checkFolder(cwd: string): Promise<void> {
  const problem = isAbsolute(cwd) ? await folderProblem(cwd) : "the path is not absolute";
  if (problem === undefined) return;
  const hint = "Send the absolute path of the project in `cwd`.";
  throw new CrewError("BAD_INPUT", `"${cwd.slice(0, 200)}" cannot be the folder of a session: ${problem}.`, hint);
}
