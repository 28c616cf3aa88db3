import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";

const folder = new URL("../../examples/", import.meta.url);
const programs = readdirSync(folder).filter((file) => file.endsWith(".ts"));

test("there are ten examples", () => {
  expect(programs.length).toBeGreaterThanOrEqual(10);
});

for (const name of programs) {
  test(`the example ${name} runs, prints something, and its assertions hold`, async () => {
    const printed: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((text: unknown) => void printed.push(String(text)));
    const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      printed.push(String(text));
      return true;
    });
    try {
      await import(fileURLToPath(new URL(name, folder)));
    } finally {
      log.mockRestore();
      write.mockRestore();
    }
    expect(printed.join("").length).toBeGreaterThan(20);
  });
}
