import { Readable, Writable } from "node:stream";
import type { ClientConnection, PromptResponse, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { CrewError } from "../../core/schema/error.ts";
import { version } from "../../core/text/version.ts";
import { messageLines, MOST_MESSAGE_BYTES } from "../../runtime/channel/message-lines.ts";

/** The requests that an ACP agent sends to subcrew while it works. */
export type AcpHost = Readonly<{
  /** Allows or denies one tool call. */
  allows(call: ToolCallUpdate): Promise<boolean>;
  /** The text of a file; `undefined` when it does not exist. */
  read(file: Readonly<{ path: string; line?: number; limit?: number }>): Promise<string | undefined>;
  write(file: Readonly<{ path: string; content: string }>): Promise<void>;
  /** The file operations that are offered to the agent; forbidden operations are not offered. */
  may: Readonly<{ read: boolean; write: boolean }>;
  heard(update: SessionUpdate): void;
}>;

/** A conversation with an agent that speaks the Agent Client Protocol. */
export type AcpSession = Readonly<{
  /** Sends one prompt; resolves with the reason why the agent stopped. */
  prompt(text: string): Promise<PromptResponse>;
  /** Asks the agent to stop. */
  cancel(): void;
  close(): void;
}>;

/** Opens a conversation over the streams of a process; only this file names the ACP library. */
export async function openAcp(
  { input, output }: Readonly<{ input: Writable; output: Readable }>,
  cwd: string,
  host: AcpHost,
): Promise<AcpSession> {
  const acp = await import("@agentclientprotocol/sdk").catch((cause: unknown) => {
    const hint = "npm install @agentclientprotocol/sdk";
    throw new CrewError("MISSING_PEER", "ACP agents need a library that is not installed.", hint, { cause });
  });
  const connection: ClientConnection = acp
    .client({ name: "subcrew" })
    .onRequest("session/request_permission", async ({ params: { toolCall, options } }) => {
      const kinds = (await host.allows(toolCall)) ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
      const chosen = kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option);
      return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
    })
    .onRequest("fs/read_text_file", async ({ params: { path, line, limit } }) => {
      const part = { ...(typeof line === "number" && { line }), ...(typeof limit === "number" && { limit }) };
      const content = await host.read({ path, ...part });
      // a missing file gets this error, and the agent then creates the file
      if (content === undefined) throw acp.RequestError.resourceNotFound(path);
      return { content };
    })
    .onRequest("fs/write_text_file", async ({ params: { path, content } }) => {
      await host.write({ path, content });
      return {};
    })
    .connect(
      acp.ndJsonStream(
        Writable.toWeb(input),
        Readable.toWeb(messageLines(output, (line) => input.write(line))) as ReadableStream<Uint8Array>,
        { maxMessageBytes: MOST_MESSAGE_BYTES },
      ),
    );
  try {
    await connection.agent.request("initialize", {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "subcrew", version },
      clientCapabilities: { fs: { readTextFile: host.may.read, writeTextFile: host.may.write }, terminal: false },
    });
    const session = await connection.agent.buildSession(cwd).start();
    return {
      prompt: async (text) => {
        const stopped = session.prompt(text);
        stopped.catch(() => {}); // the same error is reported again as the last update
        for (;;) {
          const message = await session.nextUpdate();
          if (message.kind === "stop") return message.response;
          host.heard(message.update);
        }
      },
      cancel: () => void connection.agent.notify("session/cancel", { sessionId: session.sessionId }).catch(() => {}),
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

export type { PromptResponse, SessionUpdate, ToolCallUpdate };
