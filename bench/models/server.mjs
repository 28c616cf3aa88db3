// @ts-check
import { startProviderServer } from "../../dist/testing/provider-server.js";

const words = Array.from({ length: 5_000 }, (_, i) => `word${i % 97} `);

/** A simulated provider: it asks for a tool as often as the prompt says, or sends 5,000 words. */
const server = await startProviderServer(
  ({ body }) => {
    const messages = /** @type {{ role: string }[]} */ (body["messages"]);
    const asked = JSON.stringify(messages.slice(0, 2));
    if (asked.includes("SPEAK")) return { text: words };
    const turns = messages.filter(({ role }) => role === "assistant").length;
    const wanted = Number(/TURNS (\d+)/.exec(asked)?.[1] ?? 0);
    return turns < wanted ? { calls: [{ name: "look", input: { path: `src/file${turns}.ts` } }] } : "done";
  },
  { record: false },
);
process.stdout.write(`${server.url}\n`);
