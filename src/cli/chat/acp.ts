import { messageOf } from "../../core/schema/error.ts";
import { terminalLine } from "../../core/view/words.ts";
import type { CliCommand } from "../base/command.ts";
import { runOptions } from "../base/flags.ts";
import { MAIN_AGENT, mainAgentOption } from "./main-agent.ts";

/** Flags that `subcrew acp` does not have: the editor controls them, or they have no effect in an editor. */
const elsewhere: ReadonlySet<string> = new Set([
  "--bg",
  "--cwd",
  "--json",
  "--deltas",
  "--quiet",
  "--no-color",
  "--reuse",
  "--record",
  "--replay",
  "--replay-until",
  "--name",
  "--strict",
  "--yes",
  "--retry",
  "--unattended",
]);

/** The command `subcrew acp`. */
export const acpCommand: CliCommand = {
  description:
    "Serves as an agent for editors that support the Agent Client Protocol (Zed, JetBrains, Neovim, ...), on standard input and output. Editors start this command.",
  usage: "",
  options: [mainAgentOption(), ...runOptions().filter(({ long }) => !elsewhere.has(long ?? ""))],
  examples: [
    [
      "subcrew acp",
      "the command that an editor starts; Zed: agent_servers: { subcrew: { command: subcrew, args: [acp] } }",
    ],
    ["subcrew acp --agent general --permission-mode plan", "another agent, in read-only mode at first"],
  ],
  notes: "Each message is a run that is kept: `subcrew ps` lists it, and the editor can load the conversation again.",
  act: async (_, flags) => {
    const [
      { crewFor },
      { withFlags },
      { modelsOfFlag, runOptionsOf },
      { createConversation },
      { serveAcp },
      { onSignals },
    ] = await Promise.all([
      import("../launch/start.ts"),
      import("../launch/with-flags.ts"),
      import("../launch/settings.ts"),
      import("../../crew/conversation.ts"),
      import("../../acp/server.ts"),
      import("../terminal/signals.ts"),
    ]);
    const stop = new AbortController();
    const signals = onSignals({ pause: () => stop.abort() });
    try {
      await serveAcp({
        input: process.stdin,
        output: process.stdout,
        mode: flags.permissionMode ?? "default",
        signal: stop.signal,
        onError: (error) => void process.stderr.write(`warn    ${terminalLine(messageOf(error)).slice(0, 300)}\n`),
        open: async ({ cwd, mode, servers, id }) => {
          const wanted = { ...flags, cwd, permissionMode: mode };
          const plain = await crewFor(wanted);
          const known = plain.settings.config.mcpServers ?? {};
          const crew =
            Object.keys(servers).length === 0
              ? plain
              : await crewFor({ ...wanted, quiet: true }, { mcpServers: { ...servers, ...known } });
          const talk = createConversation({
            crew,
            id,
            options: { ...runOptionsOf(flags, { attended: true }), parkByDefault: false },
            model: flags.model === undefined ? undefined : modelsOfFlag(flags.model),
            opening: (text) => withFlags({ mode: "single", agent: flags.agent ?? MAIN_AGENT, task: text }, flags),
          });
          return { crew, talk };
        },
      });
    } finally {
      signals.stop();
    }
    return signals.code() ?? 0;
  },
};
