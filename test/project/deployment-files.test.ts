import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { workerCommand } from "../../src/cli/engine/worker.ts";

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../../examples/engine", name), "utf8");
const flags = new Set(workerCommand.options.map(({ long }) => long));
const span = (words: readonly string[]): number =>
  Number(/^(\d+)s$/.exec(words[words.indexOf("--grace") + 1] ?? "")?.[1]);
const knownFlags = (words: readonly string[]): boolean =>
  words.filter((word) => word.startsWith("--")).every((word) => flags.has(word));

test("the systemd unit drains with SIGTERM and waits longer than the grace period", () => {
  const fields = Object.fromEntries(
    read("subcrew-worker.service")
      .split("\n")
      .flatMap((line) => (/^[A-Z][A-Za-z]+=/.test(line) ? [line.split(/=(.*)/s).slice(0, 2) as [string, string]] : [])),
  );
  const words = fields["ExecStart"]?.split(" ") ?? [];
  expect(fields).toMatchObject({ Restart: "always", SuccessExitStatus: "143", KillMode: "mixed" });
  expect(words).toContain("worker");
  expect(knownFlags(words)).toBe(true);
  expect(Number(fields["TimeoutStopSec"])).toBeGreaterThan(span(words) + 10);
});

test("the container file starts a worker that is not root and contains no address or key", () => {
  const lines = read("Containerfile")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line));
  expect(lines.map((line) => line.split(" ")[0])).toEqual(
    expect.arrayContaining(["FROM", "RUN", "USER", "STOPSIGNAL", "ENTRYPOINT", "CMD"]),
  );
  const words = lines.flatMap((line) =>
    /^(?:ENTRYPOINT|CMD) /.test(line) ? (JSON.parse(line.replace(/^\w+ /, "")) as string[]) : [],
  );
  expect(words.slice(0, 2)).toEqual(["subcrew", "worker"]);
  expect(knownFlags(words)).toBe(true);
  expect(read("Containerfile")).not.toMatch(/postgres:\/\/|KEY=/);
});

const deployment = z.strictObject({
  apiVersion: z.literal("apps/v1"),
  kind: z.literal("Deployment"),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    replicas: z.number().int().positive(),
    selector: z.strictObject({ matchLabels: z.record(z.string(), z.string()) }),
    strategy: z.strictObject({ rollingUpdate: z.record(z.string(), z.number()) }).optional(),
    template: z.strictObject({
      metadata: z.strictObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.strictObject({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.strictObject({
            name: z.string(),
            image: z.string(),
            command: z.array(z.string()).optional(),
            args: z.array(z.string()),
            envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: z.string() }) })),
            resources: z.record(z.string(), z.record(z.string(), z.string())),
            securityContext: z.strictObject({
              allowPrivilegeEscalation: z.literal(false),
              runAsNonRoot: z.literal(true),
              runAsUser: z.number().positive(),
            }),
          }),
        ]),
      }),
    }),
  }),
});

test("the Kubernetes example has the fields of deployments, and gives workers longer than the grace period", () => {
  const documents = parseAllDocuments(read("kubernetes.yaml"));
  expect(documents).toHaveLength(2);
  for (const document of documents) {
    const { spec } = deployment.parse(document.toJS());
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    const [{ args, command = [] }] = spec.template.spec.containers;
    expect(knownFlags([...command, ...args])).toBe(true);
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(span(args) + 10);
  }
});
