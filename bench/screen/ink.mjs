import { EventEmitter } from "node:events";
import { Box, render, Text } from "ink";
import { createElement as h } from "react";

/**
 * Draws the same rows with ink, as its users would: as many as fit, cut to the width.
 *
 * @param {{ columns: number; rows: number }} size
 * @param {(text: string) => void} write
 */
export function createDrawing({ columns, rows }, write) {
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows,
    isTTY: true,
    write: (/** @type {string} */ text) => (write(text), true),
  });
  const room = rows - 4;
  /** @param {{ state: import("../../dist/core/run/state.js").State }} props */
  const Screen = ({ state }) => {
    const all = [...state.nodes.values()];
    const line = (/** @type {import("../../dist/core/run/state.js").NodeView} */ node) =>
      h(
        Box,
        { key: node.path, width: columns - 1 },
        h(Box, { width: 4 }, h(Text, { color: "cyan" }, "⠋")),
        h(Box, { width: 24 }, h(Text, { wrap: "truncate" }, node.asked ?? node.path)),
        h(Box, { width: 12 }, h(Text, { dimColor: true, wrap: "truncate" }, node.agent ?? "")),
        h(
          Box,
          { flexGrow: 1 },
          h(Text, { wrap: "truncate" }, node.doing === "writing" ? node.text.slice(-60) : node.doing),
        ),
      );
    return h(
      Box,
      { flexDirection: "column" },
      h(Text, { bold: true }, `${all.filter(({ status }) => status === "running").length} working`),
      ...all.slice(0, room).map(line),
      h(Text, { dimColor: true }, `hidden: ${Math.max(0, all.length - room)} below`),
    );
  };
  let app;
  return (/** @type {import("../../dist/core/run/state.js").State} */ state) => {
    const element = h(Screen, { state: { ...state } });
    if (app) app.rerender(element);
    else
      app = render(element, {
        stdout: /** @type {never} */ (stdout),
        patchConsole: false,
        exitOnCtrlC: false,
        maxFps: 10,
        incrementalRendering: true,
      });
  };
}
