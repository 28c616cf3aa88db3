import type { Tool } from "../core/tool.ts";
import { ask } from "./ask.ts";
import { base64Decode } from "./base64-decode.ts";
import { base64Encode } from "./base64-encode.ts";
import { bashOutput } from "./bash-output.ts";
import { bash } from "./bash.ts";
import { currentTime } from "./current-time.ts";
import { deleteFile } from "./delete-file.ts";
import { editFile } from "./edit-file.ts";
import { getEnv } from "./get-env.ts";
import { getFileInfo } from "./get-file-info.ts";
import { glob } from "./glob.ts";
import { grepFiles } from "./grep-files.ts";
import { httpGet } from "./http-get.ts";
import { httpPost } from "./http-post.ts";
import { httpRequest } from "./http-request.ts";
import { jsonParse } from "./json-parse.ts";
import { jsonStringify } from "./json-stringify.ts";
import { killShell } from "./kill-shell.ts";
import { listFiles } from "./list-files.ts";
import { memoryAppend } from "./memory-append.ts";
import { memoryList } from "./memory-list.ts";
import { memoryPatch } from "./memory-patch.ts";
import { memoryRead } from "./memory-read.ts";
import { memoryWrite } from "./memory-write.ts";
import { moveFile } from "./move-file.ts";
import { notify } from "./notify.ts";
import { readFile } from "./read-file.ts";
import { reportFinding } from "./report-finding.ts";
import { sendMessage } from "./send-message.ts";
import { setEnv } from "./set-env.ts";
import { skill } from "./skill.ts";
import { sleep } from "./sleep.ts";
import { taskList } from "./task-list.ts";
import { taskReplay } from "./task-replay.ts";
import { todo } from "./todo.ts";
import { webSearch } from "./web-search.ts";
import { writeFile } from "./write-file.ts";
import type { ToolParts } from "./parts.ts";

/**
 * The built-in tools by name. A new tool is one file and one row. A run loads all of them, so the table is loaded late and
 * as a whole: bundled, that is one file to read and not fifty. What a tool needs besides is its own to load.
 */
export const builtinTools: Readonly<Record<string, (parts?: ToolParts) => Tool>> = {
  ask: () => ask,
  base64_decode: () => base64Decode,
  base64_encode: () => base64Encode,
  bash: () => bash,
  bash_output: () => bashOutput,
  current_time: () => currentTime,
  delete_file: () => deleteFile,
  edit_file: () => editFile,
  get_env: () => getEnv,
  get_file_info: () => getFileInfo,
  glob: () => glob,
  grep_files: () => grepFiles,
  http_get: (parts) => httpGet(parts),
  http_post: (parts) => httpPost(parts),
  http_request: (parts) => httpRequest(parts),
  json_parse: () => jsonParse,
  json_stringify: () => jsonStringify,
  kill_shell: () => killShell,
  list_files: () => listFiles,
  memory_append: (parts) => memoryAppend(parts),
  memory_list: (parts) => memoryList(parts),
  memory_patch: (parts) => memoryPatch(parts),
  memory_read: (parts) => memoryRead(parts),
  memory_write: (parts) => memoryWrite(parts),
  move_file: () => moveFile,
  notify: () => notify,
  read_file: () => readFile,
  report_finding: () => reportFinding,
  send_message: () => sendMessage,
  set_env: () => setEnv,
  skill: (parts) => skill(parts),
  sleep: () => sleep,
  task_list: (parts) => taskList(parts),
  task_replay: (parts) => taskReplay(parts),
  todo: () => todo,
  web_search: (parts) => webSearch(parts),
  write_file: () => writeFile,
};
