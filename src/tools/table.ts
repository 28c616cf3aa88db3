import type { Tool } from "../core/task/tool.ts";
import { ask } from "./crew/ask.ts";
import { notify } from "./crew/notify.ts";
import { reportFinding } from "./crew/report-finding.ts";
import { sendMessage } from "./crew/send-message.ts";
import { skill } from "./crew/skill.ts";
import { taskList } from "./crew/task-list.ts";
import { taskReplay } from "./crew/task-replay.ts";
import { todo } from "./crew/todo.ts";
import { base64Decode } from "./data/base64-decode.ts";
import { base64Encode } from "./data/base64-encode.ts";
import { currentTime } from "./data/current-time.ts";
import { jsonParse } from "./data/json-parse.ts";
import { jsonStringify } from "./data/json-stringify.ts";
import { sleep } from "./data/sleep.ts";
import { deleteFile } from "./files/delete-file.ts";
import { editFile } from "./files/edit-file.ts";
import { getFileInfo } from "./files/get-file-info.ts";
import { moveFile } from "./files/move-file.ts";
import { readFile } from "./files/read-file.ts";
import { writeFile } from "./files/write-file.ts";
import { memoryAppend } from "./memory/memory-append.ts";
import { memoryList } from "./memory/memory-list.ts";
import { memoryPatch } from "./memory/memory-patch.ts";
import { memoryRead } from "./memory/memory-read.ts";
import { memoryWrite } from "./memory/memory-write.ts";
import type { ToolParts } from "./parts/tool-parts.ts";
import { glob } from "./search/glob.ts";
import { grepFiles } from "./search/grep-files.ts";
import { listFiles } from "./search/list-files.ts";
import { bash } from "./shell/bash.ts";
import { bashOutput } from "./shell/bash-output.ts";
import { getEnv } from "./shell/get-env.ts";
import { killShell } from "./shell/kill-shell.ts";
import { setEnv } from "./shell/set-env.ts";
import { httpGet } from "./web/http-get.ts";
import { httpPost } from "./web/http-post.ts";
import { httpRequest } from "./web/http-request.ts";
import { webSearch } from "./web/web-search.ts";

/**
 * A row for each built-in tool: the tool, or the function that makes it. A new tool is one file and one row. Every run
 * needs all of them, so the table is loaded as a whole, when it is first needed: in the bundle that is one file instead
 * of fifty. A tool loads its own large dependencies lazily.
 */
const rows: Readonly<Record<string, Tool | ((parts?: ToolParts) => Tool)>> = {
  ask,
  base64_decode: base64Decode,
  base64_encode: base64Encode,
  bash,
  bash_output: bashOutput,
  current_time: currentTime,
  delete_file: deleteFile,
  edit_file: editFile,
  get_env: getEnv,
  get_file_info: getFileInfo,
  glob,
  grep_files: grepFiles,
  http_get: httpGet,
  http_post: httpPost,
  http_request: httpRequest,
  json_parse: jsonParse,
  json_stringify: jsonStringify,
  kill_shell: killShell,
  list_files: listFiles,
  memory_append: memoryAppend,
  memory_list: memoryList,
  memory_patch: memoryPatch,
  memory_read: memoryRead,
  memory_write: memoryWrite,
  move_file: moveFile,
  notify,
  read_file: readFile,
  report_finding: reportFinding,
  send_message: sendMessage,
  set_env: setEnv,
  skill,
  sleep,
  task_list: taskList,
  task_replay: taskReplay,
  todo,
  web_search: webSearch,
  write_file: writeFile,
};

/** The built-in tools by name. */
export const builtinTools = (parts?: ToolParts): ReadonlyMap<string, Tool> =>
  new Map(Object.entries(rows).map(([name, row]) => [name, typeof row === "function" ? row(parts) : row]));
