import { useSignal } from "@preact/signals";
import type { CSSProperties, ComponentChild, HTMLAttributes, JSX, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Options = Readonly<{
  count: number;
  rowHeight: number;
  /** The row that must stay visible. */
  keep?: number;
  class?: string;
  attributes?: HTMLAttributes<HTMLDivElement>;
  /** A heading that stays at the top. */
  heading?: ComponentChild;
  headingHeight?: number;
  /** The ARIA role of the element around the rows. */
  around?: "rowgroup" | "presentation";
  /** The scrolling element, for a parent that scrolls it. */
  box?: RefObject<HTMLDivElement | null>;
  scrolled?(): void;
  row(at: number): ComponentChild;
}>;

const MARGIN = 8;

/** A list that renders only its visible rows. All rows have the same height, so nothing moves while scrolling. */
export function WindowedList({
  count,
  rowHeight,
  keep,
  class: name = "",
  attributes = {},
  heading,
  headingHeight = 0,
  around = "rowgroup",
  box: outer,
  scrolled,
  row,
}: Options): JSX.Element {
  const own = useRef<HTMLDivElement>(null);
  const box = outer ?? own;
  const top = useSignal(0);
  const height = useSignal(600);
  useLayoutEffect(() => {
    const element = box.current!;
    const size = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    size.observe(element);
    return () => size.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (keep === undefined || keep < 0 || !element) return;
    const at = keep * rowHeight;
    const room = element.clientHeight - headingHeight - rowHeight;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at > element.scrollTop + room) element.scrollTop = at - room;
  }, [keep, count === 0]);
  const first = Math.max(0, Math.floor(top.value / rowHeight) - MARGIN);
  const last = Math.min(count, Math.ceil((top.value + height.value) / rowHeight) + MARGIN);
  const rows: ComponentChild[] = [];
  for (let at = first; at < last; at += 1) rows.push(row(at));
  return (
    <div
      {...attributes}
      ref={box}
      class={`windowed ${name}`}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
        scrolled?.();
      }}
    >
      {heading}
      <div class="all-rows" role={around} style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}

export const rowPlace = (at: number, rowHeight: number): CSSProperties => ({
  transform: `translateY(${at * rowHeight}px)`,
  height: `${rowHeight}px`,
});
