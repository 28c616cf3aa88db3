import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProviderServer } from "../../../../src/testing/provider-server.ts";
import type { ProviderTurn } from "../../../../src/testing/provider-turn.ts";
import { needs } from "../../../needs.ts";
import { place } from "../../command.ts";
import { terminal } from "../../terminal.ts";

type Part = Readonly<{ type: string; text?: string }>;
type Said = Readonly<{ role: string; content: string | readonly Part[] }>;

/** The last message for the model in a request to the Anthropic API. */
function lastOf(body: Readonly<Record<string, unknown>>): { text: string; parts: readonly Part[] } {
  const { content } = (body["messages"] as readonly Said[]).at(-1)!;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return { text: parts.map(({ text = "" }) => text).join("\n"), parts };
}

/** The answer of the provider, which depends on the last message. */
function answerTo(text: string, parts: readonly Part[]): ProviderTurn {
  if (parts.some(({ type }) => type === "tool_result")) return "The call is done.";
  const [, shell] = /shell: (.*)/.exec(text) ?? [];
  if (shell !== undefined) return { calls: [{ name: "bash", input: { command: shell } }] };
  if (text.includes("change it"))
    return { calls: [{ name: "edit_file", input: { path: "a.txt", oldText: "old", newText: "new" } }] };
  if (text.includes("change more"))
    return { calls: [{ name: "edit_file", input: { path: "a.txt", oldText: "new", newText: "newer" } }] };
  if (text.includes("talk long")) return { text: Array.from({ length: 400 }, (_, n) => `word${n} `), paceMs: 60 };
  return `Answered ${text.split("\n").length} lines.`;
}

test("a chat session typed by hand: every line arrives, whatever the chat is doing", { timeout: 120_000 }, async ({
  skip,
}) => {
  const tmux = await needs("tmux");
  if (tmux.missing !== undefined) return skip(tmux.missing);
  const server = await startProviderServer(({ body }) => {
    const { text, parts } = lastOf(body);
    return answerTo(text, parts);
  });
  onTestFinished(() => server.close());
  const at = place({ "a.txt": "old\n" });
  writeFileSync(join(at.workspace, "a pic.png"), Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"));
  const line = ["chat", "--model", "anthropic/claude-haiku-4-5"];
  const open = terminal(tmux.path, at, line, {
    env: { ...server.env, EDITOR: "sh -c 'echo the editor waits; sleep 600' editor" },
  });
  onTestFinished(() => open.close());
  const said = (): string[] => server.requests.map(({ body }) => lastOf(body).text);
  const idle = /run_\w{12}\n>/;
  await open.until(/exits\.\n>/);

  // a paste of forty lines is one message with all lines
  const lines = Array.from({ length: 40 }, (_, n) => `pasted line ${n + 1}`);
  open.paste(lines.join("\n"));
  await open.until("rows above");
  open.keys("Enter");
  await open.until(/Answered \d+ lines\.[^>]*run_\w{12}\n>/);
  expect(said()[0]).toContain(lines.join("\n"));

  // typing while it works: queued, edited, and sent now
  open.keys("talk long", "Enter");
  await open.until("word3 ");
  open.keys("ask this next", "Enter");
  await open.until("queued: ask this next");
  open.keys("Up");
  await open.until("> ask this next");
  open.keys(" or later", "Enter");
  await open.until("queued: ask this next or later");
  open.keys("hear this now", "C-s");
  await open.until("sent now: hear this now");

  // a command that only shows something does not wait for the answer
  open.keys("/cost", "Enter");
  await open.until(/messages?, \d+ turns?/);

  // Ctrl-C while it works stops the answer; queued messages are sent, and none is lost
  open.keys("C-c");
  await open.until("ask this next or later");
  await open.until(idle);
  expect(open.history()).toContain("word3");

  // Ctrl-C at the prompt clears the line, and the line is not sent
  open.keys("never send this");
  await open.until("> never send this");
  open.keys("C-c");
  await open.until(/>\s*\n/);

  // an approval with a pattern is remembered: the second call needs no approval
  open.keys("shell: touch one.txt", "Enter");
  await open.until("Allow this call?");
  open.keys("c", "Enter");
  await open.until("> bash(touch *)");
  open.keys("Enter");
  await open.until(/The call is done\.[^>]*run_\w{12}\n>/);
  open.keys("shell: touch two.txt", "Enter");
  await open.until(/touch two\.txt[\s\S]*The call is done\.[^>]*run_\w{12}\n>/);
  expect(open.history().match(/lead asks:/g)).toHaveLength(1);
  expect(existsSync(join(at.workspace, "two.txt"))).toBe(true);

  // Ctrl-C at a question stops the answer, and the call is not made
  open.keys("shell: rm a.txt", "Enter");
  await open.until("Allow this call?");
  open.keys("C-c");
  await open.until("/resume continues");
  expect(existsSync(join(at.workspace, "a.txt"))).toBe(true);

  // the output of a command that the person runs is shown while it runs, and Ctrl-C ends only the command
  open.keys("!echo begun; sleep 600; echo never", "Enter");
  await open.until(/\nbegun\n.*running/);
  open.keys("C-c");
  await open.until("ended by SIGINT");

  // Ctrl-C in an editor goes to the editor, and the typed line stays
  open.keys("half a line", "C-g");
  await open.until("the editor waits");
  open.keys("C-c");
  await open.until(/> half a line\n.*ended with/);
  open.keys("C-c");
  await open.until(/>\s*\n/);

  // an edit is shown as a diff before it is approved, and then undone
  open.keys("change it", "Enter");
  await open.until("+new");
  open.keys("y", "Enter");
  await open.until(/changed: a\.txt[^>]*run_\w{12}\n>/);
  expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe("new\n");
  open.keys("change more", "Enter");
  await open.until("+newer");
  open.keys("y", "Enter");
  await open.until(/\+newer[\s\S]*changed: a\.txt[^>]*run_\w{12}\n>/);
  // a second /undo reverts the changes of the previous answer
  for (const before of ["new\n", "old\n"]) {
    open.keys("/undo", "Enter");
    await expect.poll(() => readFileSync(join(at.workspace, "a.txt"), "utf8"), { timeout: 20_000 }).toBe(before);
    await open.until(/Done\.\n>/);
  }

  // a pasted path of an image is a mention, and the image is sent
  open.paste("a\\ pic.png".replace("a\\", join(at.workspace, "a\\")));
  await open.until("a pic.png");
  open.keys("what is this?", "Enter");
  await open.until("with a pic.png (png)");
  await open.until(/Answered \d+ lines?\.[^>]*run_\w{12}\n>/);
  expect(lastOf(server.requests.at(-1)!.body).parts.map(({ type }) => type)).toContain("image");

  open.keys("C-c", "C-c");
  await open.until("[exit 0]");
  const all = JSON.stringify(server.requests.map(({ body }) => body["messages"]));
  for (const line of ["ask this next or later", "hear this now", "change it"]) expect(all).toContain(line);
  expect(all).not.toContain("never send this");
});
