// A server of the official library. What it offers is in a file, so that it can change while nobody looks.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [, , file = "", mode = "stdio"] = process.argv;
const { description = "Says it again.", more = [], log } = JSON.parse(readFileSync(file, "utf8"));
if (log) appendFileSync(log, `${process.pid}\n`);

const text = (value) => ({ content: [{ type: "text", text: value }] });

const make = () => {
  const server = new McpServer({ name: "fixture", version: "1" });
  const readOnly = { annotations: { readOnlyHint: true } };
  server.registerTool("echo", { description, inputSchema: z.object({ text: z.string() }) }, (args) =>
    text(`echo: ${args.text}`),
  );
  server.registerTool("look", { description: "Only looks.", inputSchema: z.object({}), ...readOnly }, () =>
    text("seen"),
  );
  server.registerTool("environment", { description: "What it sees.", inputSchema: z.object({}) }, () =>
    text(JSON.stringify(process.env)),
  );
  server.registerTool("big", { description: "Much.", inputSchema: z.object({}) }, () => text("x\n".repeat(100_000)));
  server.registerTool("crash", { description: "Ends.", inputSchema: z.object({}) }, () => process.exit(7));
  server.registerTool("hang", { description: "Never ends.", inputSchema: z.object({}) }, () => new Promise(() => {}));
  server.registerTool("offspring", { description: "Starts another.", inputSchema: z.object({}) }, () => {
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    return text(`${process.pid} ${child.pid}`);
  });
  for (const name of more)
    server.registerTool(name, { description: "New.", inputSchema: z.object({}) }, () => text(name));
  return server;
};

if (mode === "stdio") serveStdio(make);
else {
  const speak = toNodeHandler(createMcpHandler(make));
  const http = createServer((request, response) => {
    if (request.headers.authorization !== "Bearer let-me-in-please") return void response.writeHead(401).end();
    void speak(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}
