import type { Step } from "./lab.ts";

/*
 * The output of the six tools for the same small task: read a file, then answer. Recorded from runs of the real commands
 * (Claude Code 2.1, Codex 0.166, Gemini CLI 0.61, opencode, Copilot CLI 1.0, pi 0.74), without fields that subcrew does not
 * read. `test/soak/foreign-tools.test.ts` compares it with the real tools.
 */
const lines = (...values: readonly unknown[]): Step[] => values.map((line) => ({ line }));

const claudeUsage = { input_tokens: 100, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 1 };
const stream = (event: object): object => ({ type: "stream_event", event, parent_tool_use_id: null });

export const transcripts: Readonly<Record<string, readonly Step[]>> = {
  claude: lines(
    { type: "system", subtype: "init", tools: ["Grep", "Read"], permissionMode: "dontAsk" },
    stream({ type: "message_start", message: { id: "msg_1", usage: claudeUsage } }),
    stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Let me look." } }),
    { type: "assistant", message: { content: [{ type: "text", text: "Let me look." }] }, parent_tool_use_id: null },
    {
      type: "assistant",
      message: { content: [{ type: "tool_use", id: "t1", name: "Read", input: { file_path: "notes.txt" } }] },
      parent_tool_use_id: null,
    },
    stream({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 20 } }),
    stream({ type: "message_stop" }),
    {
      type: "user",
      message: { content: [{ tool_use_id: "t1", type: "tool_result", content: "the answer is 42" }] },
      parent_tool_use_id: null,
    },
    {
      type: "assistant",
      message: { content: [{ type: "tool_use", id: "x", name: "Read", input: {} }] },
      parent_tool_use_id: "t9",
    },
    stream({ type: "message_start", message: { id: "msg_2", usage: claudeUsage } }),
    stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It is 42." } }),
    stream({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } }),
    { type: "result", subtype: "success", is_error: false, result: "It is 42.", num_turns: 2, total_cost_usd: 0.0012 },
  ),
  codex: lines(
    { type: "thread.started", thread_id: "1" },
    { type: "turn.started" },
    { type: "item.completed", item: { id: "item_0", type: "agent_message", text: "Let me look." } },
    {
      type: "item.started",
      item: { id: "item_1", type: "command_execution", command: "cat notes.txt", status: "in_progress" },
    },
    {
      type: "item.completed",
      item: {
        id: "item_1",
        type: "command_execution",
        command: "cat notes.txt",
        aggregated_output: "the answer is 42\n",
        exit_code: 0,
        status: "completed",
      },
    },
    { type: "item.completed", item: { id: "item_2", type: "agent_message", text: "It is 42." } },
    {
      type: "turn.completed",
      usage: {
        input_tokens: 210,
        cached_input_tokens: 10,
        cache_write_input_tokens: 0,
        output_tokens: 40,
        reasoning_output_tokens: 0,
      },
    },
  ),
  gemini: lines(
    { type: "init", session_id: "1", model: "gemini-2.5-pro" },
    { type: "message", role: "user", content: "What is in notes.txt?" },
    { type: "message", role: "assistant", content: "Let me look.", delta: true },
    { type: "tool_use", tool_name: "read_file", tool_id: "r1", parameters: { file_path: "notes.txt" } },
    { type: "tool_result", tool_id: "r1", status: "success", output: "the answer is 42" },
    { type: "message", role: "assistant", content: "It is 42.", delta: true },
    {
      type: "result",
      status: "success",
      stats: { total_tokens: 250, input_tokens: 210, output_tokens: 40, cached: 10, input: 200, tool_calls: 1 },
    },
  ),
  opencode: lines(
    { type: "step_start", part: { type: "step-start" } },
    { type: "text", part: { type: "text", text: "Let me look." } },
    {
      type: "tool_use",
      part: {
        type: "tool",
        tool: "read",
        callID: "c1",
        state: { status: "completed", input: { filePath: "notes.txt" }, output: "the answer is 42" },
      },
    },
    {
      type: "step_finish",
      part: {
        reason: "tool-calls",
        tokens: { input: 100, output: 20, reasoning: 0, cache: { write: 0, read: 5 } },
        cost: 0.0006,
      },
    },
    { type: "step_start", part: { type: "step-start" } },
    { type: "text", part: { type: "text", text: "It is 42." } },
    {
      type: "step_finish",
      part: {
        reason: "stop",
        tokens: { input: 100, output: 20, reasoning: 0, cache: { write: 0, read: 5 } },
        cost: 0.0006,
      },
    },
  ),
  copilot: lines(
    { type: "session.tools_updated", data: { model: "gpt-4.1" } },
    { type: "assistant.turn_start", data: { turnId: "0" } },
    { type: "assistant.message_delta", data: { deltaContent: "Let me look." } },
    {
      type: "assistant.message",
      data: {
        model: "gpt-4.1",
        content: "Let me look.",
        toolRequests: [{ toolCallId: "c1", name: "view", arguments: { path: "notes.txt" } }],
      },
    },
    { type: "tool.execution_start", data: { toolCallId: "c1", toolName: "view" } },
    {
      type: "tool.execution_complete",
      data: { toolCallId: "c1", success: true, result: { content: "the answer is 42\n" } },
    },
    { type: "assistant.turn_end", data: { turnId: "0" } },
    { type: "assistant.message_delta", data: { deltaContent: "It is 42." } },
    { type: "assistant.message", data: { model: "gpt-4.1", content: "It is 42.", toolRequests: [] } },
    { type: "result", exitCode: 0, usage: { premiumRequests: 0 } },
  ),
  pi: lines(
    { type: "session", version: 3 },
    { type: "turn_start" },
    { type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "Let me look." } },
    { type: "tool_execution_start", toolCallId: "t1", toolName: "read", args: { path: "notes.txt" } },
    {
      type: "tool_execution_end",
      toolCallId: "t1",
      toolName: "read",
      result: { content: [{ type: "text", text: "the answer is 42\n" }] },
      isError: false,
    },
    {
      type: "turn_end",
      message: {
        model: "claude-sonnet-4-5",
        content: [{ type: "text", text: "Let me look." }],
        usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 0, cost: { total: 0.0006 } },
        stopReason: "toolUse",
      },
    },
    { type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "It is 42." } },
    {
      type: "turn_end",
      message: {
        model: "claude-sonnet-4-5",
        content: [{ type: "text", text: "It is 42." }],
        usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 0, cost: { total: 0.0006 } },
        stopReason: "stop",
      },
    },
  ),
};
