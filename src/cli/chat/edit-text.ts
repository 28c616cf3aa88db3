import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRegularText } from "../../runtime/disk/regular-file.ts";

/** Opens a text in `$VISUAL` or `$EDITOR` and returns the edited text. */
export async function editText(text: string): Promise<{ text: string } | { problem: string }> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  const folder = await mkdtemp(join(tmpdir(), "subcrew-edit-"));
  try {
    const file = join(folder, "message.md");
    await writeFile(file, text, { mode: 0o600 });
    // The variable that names the editor may also contain arguments, as in "code --wait".
    const child = spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0)
      return { problem: `The editor "${editor}" ended with ${code ?? "a signal"}; set $EDITOR to another editor.` };
    return { text: (await readRegularText(file)).replace(/\r\n?/g, "\n").replace(/\n$/, "") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
