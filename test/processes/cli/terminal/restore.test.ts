import { readdirSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../../../needs.ts";
import { command, place } from "../../command.ts";
import { terminal } from "../../terminal.ts";

/** The processes of `subcrew top` that a terminal of this name started. */
function topsOf(marker: string): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const ours = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`SUBCREW_TEST_MARKER=${marker}`);
      return line.includes(command) && line.includes("top") && ours ? [Number(pid)] : [];
    } catch {
      return []; // the process has ended meanwhile
    }
  });
}

test("top restores the terminal however it ends, and ends with its terminal", { timeout: 120_000 }, async ({
  skip,
}) => {
  const tmux = await needs("tmux");
  if (tmux.missing !== undefined || process.platform !== "linux") return skip(tmux.missing ?? "reads /proc");
  const marker = `${process.pid}-${performance.now()}`;
  const open = terminal(tmux.path, place(), ["top"], {
    env: { SUBCREW_TEST_MARKER: marker },
    script: (line) =>
      `trap : QUIT\nfor n in 1 2 3 4 5; do ${line}\necho "[$n: exit $?]$(stty -a | grep -o ' -\\?icanon')"; read go; clear; done`,
  });
  onTestFinished(() => open.close());
  const QUIT = 131;
  const endings = [
    ["q", 0],
    ["C-c", 0],
    ["C-\\", QUIT],
    ["SIGTERM", 143],
  ] as const;
  for (const [index, [how, code]] of endings.entries()) {
    await open.until("no runs");
    expect(open.about("#{alternate_on} #{cursor_flag} #{wrap_flag}")).toBe("1 0 0");
    if (how.startsWith("SIG")) for (const pid of topsOf(marker)) process.kill(pid, how);
    else open.keys(how);
    await open.until(`[${index + 1}: exit ${code}] icanon`);
    expect(open.about("#{alternate_on} #{cursor_flag} #{wrap_flag}"), how).toBe("0 1 1");
    open.keys("Enter");
  }
  await open.until("no runs");
  expect(topsOf(marker)).toHaveLength(1);
  open.close();
  await expect.poll(() => topsOf(marker), { timeout: 60_000 }).toEqual([]);
});
