import { expect, test } from "vitest";
import { maskSecrets } from "./mask-secrets.ts";

test("keys, tokens, passwords, headers and environment variables are masked at any depth; other values are kept", () => {
  const settings = {
    model: "fast",
    engine: "postgres://me:pw-1@db/crew",
    limits: { maxTokens: 5 },
    network: { proxy: "http://me:pw-2@proxy:80", caFile: "/etc/ca.pem" },
    providers: { x: { apiKey: "pw-3", baseURL: "https://x.test/v1?api_key=pw-4&a=1", headers: { "X-Any": "pw-5" } } },
    mcpServers: {
      y: { command: "run", args: ["--port", "80", "--token", "pw-6", "--api-key=pw-7"], env: { ANY: "pw-8" } },
    },
    other: { password: "pw-9", clientSecret: ["pw-10"], list: [{ authorization: "pw-11" }] },
  };
  const masked = maskSecrets(settings, []);
  expect(JSON.stringify(masked)).not.toContain("pw-");
  expect(masked).toMatchObject({
    model: "fast",
    limits: { maxTokens: 5 },
    network: { proxy: "http://(hidden)@proxy:80", caFile: "/etc/ca.pem" },
    providers: { x: { apiKey: "(hidden)", baseURL: "https://x.test/v1?api_key=(hidden)&a=1" } },
    mcpServers: { y: { command: "run", args: ["--port", "80", "--token", "(hidden)", "--api-key=(hidden)"] } },
  });
});
