import type { Tool } from "../core/tool.ts";

/** The built-in tools by name; each is loaded when it is first asked for. A new tool is one file and one row. */
export const builtinTools: Readonly<Record<string, () => Promise<Tool>>> = {
  current_time: async () => (await import("./current-time.ts")).currentTime,
  get_file_info: async () => (await import("./get-file-info.ts")).getFileInfo,
  glob: async () => (await import("./glob.ts")).glob,
  grep_files: async () => (await import("./grep-files.ts")).grepFiles,
  list_files: async () => (await import("./list-files.ts")).listFiles,
  read_file: async () => (await import("./read-file.ts")).readFile,
};
