import { useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent, TargetedMouseEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { layersOf } from "../../../core/view/graph-layers.ts";
import type { Group } from "../../../core/view/row-groups.ts";

/** A box in the graph of tasks. */
export type GraphNode = Readonly<{
  id: string;
  needs: readonly string[];
  title: string;
  detail: string;
  group: Group;
  status: string;
}>;

type Props = Readonly<{
  nodes: readonly GraphNode[];
  label: string;
  selected?: string;
  select?(id: string): void;
  shape: string;
}>;

const BOX = { width: 190, height: 50 };
const GAP = { x: 70, y: 16 };
const EDGE = 24;
/** If more boxes than this are visible, the graph is drawn on a canvas. */
const MOST_BOXES = 150;

const ways: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The smallest zoom at which text is readable. A graph that would need a smaller zoom is not zoomed to fit. */
const SMALLEST_TEXT = 0.5;
/** The zoom of a graph that is too large to be shown as a whole. */
const READABLE = 0.8;
const GAP_DOWN = { x: 16, y: 44 };

type Spot = Readonly<{ x: number; y: number }>;
/** The positions of the boxes. `down` means that dependent boxes are below, otherwise to the right. */
type Layout = Readonly<{ spots: ReadonlyMap<string, Spot>; width: number; height: number; down: boolean }>;

/** Shows tasks as boxes and their dependencies as lines. `shape` changes when boxes or lines are added or removed. */
export function GraphView({ nodes, label, selected = "", select, shape }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const zoom = useSignal(1);
  const view = useSignal({ x: 0, y: 0, width: 800, height: 600 });
  const room = useSignal(0);
  const chosen = useRef(false);
  const layers = useMemo(() => layersOf(new Map(nodes.map(({ id, needs }) => [id, needs]))), [shape]);
  const layout = useMemo(() => bestLayout(layers, room.value), [layers, room.value]);
  const { spots, width, height } = layout;
  const scale = zoom.value;
  const look = (): void => {
    const { scrollLeft: x, scrollTop: y, clientWidth, clientHeight } = box.current!;
    view.value = { x, y, width: clientWidth, height: clientHeight };
  };
  useLayoutEffect(() => {
    const resized = (): void => {
      room.value = box.current!.clientWidth;
      look();
    };
    const size = new ResizeObserver(resized);
    size.observe(box.current!);
    resized();
    return () => size.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (!chosen.current && room.value > 0) zoom.value = firstZoom(width, room.value);
    requestAnimationFrame(() => box.current && look());
  }, [layout]);
  const zoomTo = (next: number): void => {
    chosen.current = true;
    zoom.value = next;
    requestAnimationFrame(look);
  };
  const fit = (): number =>
    Math.max(0.08, Math.min(1.2, box.current!.clientWidth / width, box.current!.clientHeight / height));
  useEffect(() => {
    const spot = spots.get(selected);
    const element = box.current;
    if (!spot || !element) return;
    const [x, y] = [spot.x * scale, spot.y * scale];
    if (x < element.scrollLeft || x + BOX.width * scale > element.scrollLeft + element.clientWidth)
      element.scrollLeft = x - element.clientWidth / 3;
    if (y < element.scrollTop || y + BOX.height * scale > element.scrollTop + element.clientHeight)
      element.scrollTop = y - element.clientHeight / 3;
  }, [selected, layout]);

  const isIn = ({ x, y }: Spot): boolean => {
    const { x: left, y: top, width: w, height: h } = view.value;
    return (
      (x + BOX.width) * scale > left && x * scale < left + w && (y + BOX.height) * scale > top && y * scale < top + h
    );
  };
  const visible = nodes.filter(({ id }) => isIn(spots.get(id) ?? { x: 0, y: 0 }));
  const boxes = visible.length <= MOST_BOXES && scale >= 0.5;

  useEffect(() => draw(canvas.current!, { nodes, layout, scale, view: view.value, boxes, selected }));

  const press = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const spot = spots.get(selected);
    const way = ways[event.key];
    if (!way || !select) return;
    event.preventDefault();
    const next = spot ? nearestSpot(spots, spot, way) : nodes[0]?.id;
    if (next !== undefined) select(next);
  };
  const click = (event: TargetedMouseEvent<HTMLElement>): void => {
    if (boxes || !select) return;
    const area = box.current!.getBoundingClientRect();
    const [x, y] = [
      (event.clientX - area.left + view.value.x) / scale,
      (event.clientY - area.top + view.value.y) / scale,
    ];
    for (const [id, spot] of spots)
      if (x >= spot.x && x <= spot.x + BOX.width && y >= spot.y && y <= spot.y + BOX.height) select(id);
  };
  return (
    <div class="graph-frame">
      <div
        class="graph"
        ref={box}
        tabIndex={0}
        role="application"
        aria-label={`${label}; the arrow keys move between tasks`}
        aria-activedescendant={boxes && selected !== "" ? `box-${selected}` : undefined}
        onScroll={look}
        onKeyDown={press}
        onClick={click}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <div class="graph-area" style={{ width: `${width * scale}px`, height: `${height * scale}px` }}>
          {boxes
            ? visible.map((node) => (
                <Box
                  key={node.id}
                  node={node}
                  spot={spots.get(node.id)!}
                  scale={scale}
                  selected={node.id === selected}
                  select={select}
                />
              ))
            : null}
        </div>
      </div>
      <ZoomButtons scale={scale} zoomTo={zoomTo} fit={fit} />
    </div>
  );
}

function ZoomButtons({
  scale,
  zoomTo,
  fit,
}: Readonly<{ scale: number; zoomTo(next: number): void; fit(): number }>): JSX.Element {
  return (
    <div class="zoom" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom out" onClick={() => zoomTo(Math.max(0.1, scale / 1.3))}>
        −
      </button>
      <button type="button" aria-label="Zoom in" onClick={() => zoomTo(Math.min(2, scale * 1.3))}>
        +
      </button>
      <button type="button" onClick={() => zoomTo(fit())}>
        All
      </button>
    </div>
  );
}

type BoxProps = Readonly<{
  node: GraphNode;
  spot: Spot;
  scale: number;
  selected: boolean;
  select: ((id: string) => void) | undefined;
}>;

function Box({ node, spot, scale, selected, select }: BoxProps): JSX.Element {
  return useMemo(
    () => (
      <div
        id={`box-${node.id}`}
        class={`box ${node.group.replace(" ", "-")} ${node.status} ${selected ? "selected" : ""}`}
        style={{ transform: `translate(${spot.x * scale}px, ${spot.y * scale}px) scale(${scale})` }}
        title={node.title}
        onClick={() => select?.(node.id)}
      >
        <span class="name">{node.title}</span>
        <span class="doing">{node.detail}</span>
      </div>
    ),
    [node.title, node.detail, node.group, node.status, spot, scale, selected],
  );
}

/** Places the layers from left to right. If that is too wide and top to bottom is narrower, top to bottom is used. */
function bestLayout(layers: readonly (readonly string[])[], room: number): Layout {
  const [right, down] = [placed(layers, false), placed(layers, true)];
  return room > 0 && right.width > room && down.width < right.width ? down : right;
}

function firstZoom(width: number, room: number): number {
  const fit = Math.min(1, (room - 8) / width);
  return fit >= SMALLEST_TEXT ? fit : READABLE;
}

function placed(layers: readonly (readonly string[])[], down: boolean): Layout {
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  const gap = down ? GAP_DOWN : GAP;
  const spots = new Map<string, Spot>();
  const spot = (column: number, row: number): Spot => ({
    x: EDGE + column * (BOX.width + gap.x),
    y: EDGE + row * (BOX.height + gap.y),
  });
  for (const [step, layer] of layers.entries()) {
    const free = (tallest - layer.length) / 2; // layers with few nodes are centred
    for (const [slot, id] of layer.entries()) spots.set(id, down ? spot(slot + free, step) : spot(step, slot + free));
  }
  const [columns, rows] = down ? [tallest, layers.length] : [layers.length, tallest];
  return {
    spots,
    down,
    width: 2 * EDGE + columns * (BOX.width + gap.x) - gap.x,
    height: 2 * EDGE + rows * (BOX.height + gap.y) - gap.y,
  };
}

function nearestSpot(
  spots: ReadonlyMap<string, Spot>,
  from: Spot,
  [dx, dy]: readonly [number, number],
): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [id, { x, y }] of spots) {
    const along = (x - from.x) * dx + (y - from.y) * dy;
    const across = Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
    if (along > 0 && along + 3 * across < least) [best, least] = [id, along + 3 * across];
  }
  return best;
}

const colors = new Map<string, string>();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colors.clear());

/** The colour of a style sheet variable for the canvas; the browser chooses the light or the dark colour. */
function colorOf(canvas: HTMLCanvasElement, name: string): string {
  const known = colors.get(name);
  if (known !== undefined) return known;
  canvas.style.color = `var(--${name})`;
  const { color } = getComputedStyle(canvas);
  colors.set(name, color);
  return color;
}

type Drawing = Readonly<{
  nodes: readonly GraphNode[];
  layout: Layout;
  scale: number;
  view: Readonly<{ x: number; y: number; width: number; height: number }>;
  boxes: boolean;
  selected: string;
}>;

function draw(canvas: HTMLCanvasElement, { nodes, layout, scale, view, boxes, selected }: Drawing): void {
  const { spots, down } = layout;
  const ratio = devicePixelRatio;
  const [w, h] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${view.height}px`;
  const pen = canvas.getContext("2d")!;
  const color = (name: string): string => colorOf(canvas, name);
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, -view.x * ratio, -view.y * ratio);
  pen.clearRect(view.x / scale, view.y / scale, view.width / scale, view.height / scale);
  const [line, strong] = [color("edge"), color("accent")];
  const [left, right] = [view.x / scale, (view.x + view.width) / scale];
  for (const bold of [false, true]) {
    pen.beginPath();
    for (const { id, needs } of nodes) {
      const to = spots.get(id);
      if (!to) continue;
      for (const need of needs) {
        const from = spots.get(need);
        if (!from || (id === selected || need === selected) !== bold) continue;
        if (Math.max(from.x, to.x) + BOX.width < left || Math.min(from.x, to.x) > right) continue;
        const [x1, y1, x2, y2] = down
          ? [from.x + BOX.width / 2, from.y + BOX.height, to.x + BOX.width / 2, to.y]
          : [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
        const [bendX, bendY] = down ? [0, Math.max(16, (y2 - y1) / 2)] : [Math.max(30, (x2 - x1) / 2), 0];
        pen.moveTo(x1, y1);
        pen.bezierCurveTo(x1 + bendX, y1 + bendY, x2 - bendX, y2 - bendY, x2, y2);
      }
    }
    pen.strokeStyle = bold ? strong : line;
    pen.lineWidth = bold ? 2 : 1.3;
    pen.stroke();
  }
  if (boxes) return;
  const fills: Record<string, string> = {};
  for (const { id, group, title } of nodes) {
    const spot = spots.get(id);
    if (!spot || spot.x + BOX.width < left || spot.x > right) continue;
    pen.fillStyle = fills[group] ??= color(group.replace(" ", "-"));
    pen.fillRect(spot.x, spot.y, BOX.width, BOX.height);
    if (id === selected) {
      pen.strokeStyle = strong;
      pen.lineWidth = 6;
      pen.strokeRect(spot.x, spot.y, BOX.width, BOX.height);
    }
    if (scale >= 0.35) {
      pen.fillStyle = color("on-status");
      pen.font = "15px system-ui";
      pen.fillText(title.slice(0, 22), spot.x + 8, spot.y + 30);
    }
  }
}
