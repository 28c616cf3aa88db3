// @ts-check
import { createLook } from "../../dist/core/view/look.js";
import { FieldScreen } from "../../dist/tui/top/field-screen.js";
import { listedRows, topFrame } from "../../dist/tui/top/frame.js";
import { firstView, keepSelection } from "../../dist/tui/top/view.js";

/**
 * The screen of `subcrew watch`, as cli/screen/show-top.ts draws it.
 *
 * @param {{ columns: number; rows: number }} size
 * @param {(text: string) => void} write
 */
export function createDrawing({ columns, rows: height }, write) {
  const screen = new FieldScreen(write);
  const look = createLook({ color: true, unicode: true });
  let view = firstView;
  /** @type {readonly import("../../dist/core/view/run-rows.js").ShownRun[]} */
  let runs = [];
  return (/** @type {import("../../dist/core/run/state.js").State} */ state) => {
    // As in the real screen, the object stays the same until the run itself changes.
    if (runs[0]?.state !== state) runs = [{ id: state.run, state, life: "running", problems: [] }];
    const top = { title: "subcrew watch", runs, one: true, hidden: [] };
    const listed = listedRows(top, view);
    view = keepSelection(listed.rows, view);
    screen.draw({ ...topFrame(top, view, { columns, height, now: Date.now(), look }, listed), title: "subcrew" });
  };
}
