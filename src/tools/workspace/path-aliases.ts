import type { Tool } from "../../core/task/tool.ts";

/** What other agent programs call the argument `path`. */
export const pathAliases: NonNullable<Tool["aliases"]> = {
  file_path: "path",
  absolute_path: "path",
  relative_path: "path",
  target_file: "path",
  file: "path",
  filename: "path",
  dir_path: "path",
  directory: "path",
  target_directory: "path",
  folder: "path",
};
