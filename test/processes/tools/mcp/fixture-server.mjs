// A server of the official library. Its tools are in a file, so that they can change while it does not run.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [, , file = "", mode = "stdio"] = process.argv;
const {
  description = "Says it again.",
  more = [],
  log,
  content = false,
  hint = "",
} = JSON.parse(readFileSync(file, "utf8"));
if (log) appendFileSync(log, `${process.pid}\n`);

const text = (value) => ({ content: [{ type: "text", text: value }] });

const make = () => {
  const server = new McpServer({ name: "fixture", version: "1" });
  const readOnly = { annotations: { readOnlyHint: true } };
  server.registerTool(
    "echo",
    { description, inputSchema: z.object({ text: hint === "" ? z.string() : z.string().describe(hint) }) },
    (args) => text(`echo: ${args.text}`),
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
  if (content) addContent(server);
  return server;
};

/** One green pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Resources, prompts, and results that are not text. */
function addContent(server) {
  server.registerResource("notes", "memo://notes", { description: "What was noted.", mimeType: "text/plain" }, () => ({
    contents: [{ uri: "memo://notes", text: "Feed the cat." }],
  }));
  server.registerResource("picture", "memo://picture", { mimeType: "image/png" }, () => ({
    contents: [{ uri: "memo://picture", mimeType: "image/png", blob: picture }],
  }));
  const pages = new ResourceTemplate("memo://page/{number}", { list: undefined });
  server.registerResource("page", pages, { description: "One page." }, (uri, { number }) => ({
    contents: [{ uri: uri.href, text: `Page ${number}.` }],
  }));
  const argsSchema = z.object({ file: z.string(), depth: z.string().optional() });
  server.registerPrompt("review", { description: "Reviews a file.", argsSchema }, ({ file, depth }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review ${file} to depth ${depth}.` } }],
  }));
  server.registerTool("draw", { description: "Draws.", inputSchema: z.object({}) }, () => ({
    content: [
      { type: "text", text: "Here it is:" },
      { type: "image", data: picture, mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "memo://notes", name: "notes" },
    ],
  }));
}

if (mode === "stdio") serveStdio(make);
else {
  const speak = toNodeHandler(createMcpHandler(make));
  const http = createServer((request, response) => {
    if (request.headers.authorization !== "Bearer let-me-in-please") return void response.writeHead(401).end();
    void speak(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}
