import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { pipeChannel } from "./pipe-channel.ts";

type Said = Readonly<{ type: string; text: string }>;

/** The messages in these bytes, and whether the other side counts as closed afterwards. */
async function heard(...chunks: readonly (string | Buffer)[]): Promise<{ texts: string[]; gone: boolean }> {
  const input = new PassThrough();
  const texts: string[] = [];
  let gone = false;
  pipeChannel<Said, Said>(input, new PassThrough()).listen(
    ({ text }) => void texts.push(text),
    () => (gone = true),
  );
  for (const chunk of chunks) {
    input.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { texts, gone };
}

const line = (text: string): string => `${JSON.stringify({ type: "x", text })}\n`;

test("messages over the pipe to a child process arrive complete, however they are split into chunks", async () => {
  const bytes = Buffer.from(line("grün") + line("two\nlines"));
  for (let at = 1; at < bytes.length; at++) {
    expect((await heard(bytes.subarray(0, at), bytes.subarray(at))).texts).toEqual(["grün", "two\nlines"]);
  }
});

test.each([["no JSON"], ["[1]"], ['{"kind":"x"}']])(
  "the pipe to a child process that sends %s counts as closed",
  async (said) => {
    expect(await heard(line("before"), `${said}\n`, line("after"))).toEqual({ texts: ["before"], gone: true });
  },
);

test("messages to the closed pipe of a child process are dropped without an error", async () => {
  const output = new PassThrough();
  const channel = pipeChannel<Said, Said>(new PassThrough(), output);
  output.destroy();
  channel.send({ type: "x", text: "y" });
  await channel.close();
});
