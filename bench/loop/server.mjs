// @ts-check
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The simulated provider for all compared programs: OpenAI's chat format, streamed. It reads as little of a request as
 * possible, so that the client is measured. The path sets the delay (`/50/v1`: 50 ms), the prompt sets the answer:
 * `TURNS n` asks for a tool n times, `SPEAK` sends 5,000 words at once, `DRIBBLE` one by one.
 */
const WORDS = 5_000;

/** @param {object} delta @param {string | null} finish */
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })}\n\n`;
const head = chunk({ role: "assistant", content: "" });
/** @param {string} finish */
const tail = (finish) => `${chunk({}, finish)}${usage}data: [DONE]\n\n`;

const words = Array.from({ length: WORDS }, (_, i) => chunk({ content: `word${i % 97} ` }));
const speech = Buffer.from(head + words.join("") + tail("stop"));
const done = head + chunk({ content: "done" }) + tail("stop");
/** @param {number} n */
const call = (n) => {
  const begun = { index: 0, id: `call_${n}`, type: "function", function: { name: "look", arguments: "" } };
  const args = JSON.stringify({ path: `src/file${n}.ts` });
  const piece = (/** @type {string} */ part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] });
  return head + chunk({ tool_calls: [begun] }) + piece(args.slice(0, 9)) + piece(args.slice(9)) + tail("tool_calls");
};
const calls = Array.from({ length: 1_000 }, (_, n) => call(n));
const TOOL_RESULT = Buffer.from('"role":"tool"');
const STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" };

let answers = 0;

/** @param {Buffer} body @param {Buffer} word */
function count(body, word) {
  let found = 0;
  for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + word.length)) found += 1;
  return found;
}

/** @param {import("node:http").ServerResponse} res */
async function dribble(res) {
  res.writeHead(200, STREAM);
  for (const word of [head, ...words]) {
    res.write(word);
    await new Promise((resolve) => setImmediate(resolve));
  }
  res.end(tail("stop"));
}

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  /** @type {Buffer[]} */
  const parts = [];
  req.on("data", (part) => parts.push(part));
  req.on("end", () => void answer(req.url ?? "", Buffer.concat(parts), res));
});

/** @param {string} path @param {Buffer} body @param {import("node:http").ServerResponse} res */
async function answer(path, body, res) {
  const wait = Number(/^\/(\d+)\//.exec(path)?.[1] ?? 0);
  if (wait > 0) await sleep(wait);
  if (body.includes("DRIBBLE")) return dribble(res);
  const said = body.indexOf("TURNS ");
  const wanted = Number.parseInt(body.toString("latin1", said + 6, said + 12), 10);
  if (said < 0) return res.writeHead(200, STREAM).end(speech);
  const n = count(body, TOOL_RESULT);
  answers += 1; // a new id, because some clients treat a repeated id as the same message
  const answer = (n < wanted && calls[n]) || done;
  res.writeHead(200, STREAM).end(answer.replaceAll('"id":"c"', `"id":"c${answers}"`));
}

server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
process.once("disconnect", () => process.exit());
