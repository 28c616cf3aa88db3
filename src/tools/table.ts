import type { Tool } from "../core/tool.ts";
import type { ToolParts } from "./parts.ts";

/** The built-in tools by name; each is loaded when it is first asked for. A new tool is one file and one row. */
export const builtinTools: Readonly<Record<string, (parts?: ToolParts) => Promise<Tool>>> = {
  ask: async () => (await import("./ask.ts")).ask,
  base64_decode: async () => (await import("./base64-decode.ts")).base64Decode,
  base64_encode: async () => (await import("./base64-encode.ts")).base64Encode,
  current_time: async () => (await import("./current-time.ts")).currentTime,
  get_env: async () => (await import("./get-env.ts")).getEnv,
  get_file_info: async () => (await import("./get-file-info.ts")).getFileInfo,
  glob: async () => (await import("./glob.ts")).glob,
  grep_files: async () => (await import("./grep-files.ts")).grepFiles,
  http_get: async (parts) => (await import("./http-get.ts")).httpGet(parts),
  http_post: async (parts) => (await import("./http-post.ts")).httpPost(parts),
  http_request: async (parts) => (await import("./http-request.ts")).httpRequest(parts),
  json_parse: async () => (await import("./json-parse.ts")).jsonParse,
  json_stringify: async () => (await import("./json-stringify.ts")).jsonStringify,
  list_files: async () => (await import("./list-files.ts")).listFiles,
  memory_append: async (parts) => (await import("./memory-append.ts")).memoryAppend(parts),
  memory_list: async (parts) => (await import("./memory-list.ts")).memoryList(parts),
  memory_patch: async (parts) => (await import("./memory-patch.ts")).memoryPatch(parts),
  memory_read: async (parts) => (await import("./memory-read.ts")).memoryRead(parts),
  memory_write: async (parts) => (await import("./memory-write.ts")).memoryWrite(parts),
  notify: async () => (await import("./notify.ts")).notify,
  read_file: async () => (await import("./read-file.ts")).readFile,
  report_finding: async () => (await import("./report-finding.ts")).reportFinding,
  set_env: async () => (await import("./set-env.ts")).setEnv,
  sleep: async () => (await import("./sleep.ts")).sleep,
  todo: async () => (await import("./todo.ts")).todo,
  web_search: async (parts) => (await import("./web-search.ts")).webSearch(parts),
};
