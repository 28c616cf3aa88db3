import type { JSX } from "preact";
import { formatTokens } from "../../../core/outcome/usage.ts";
import { useLoaded } from "../parts/load.tsx";
import { go, linkTo, route } from "../parts/router.ts";
import { Command, Empty, ErrorBox, projectName } from "../parts/words.tsx";
import type { CostReport, SpentRow } from "../wire.ts";

const kinds = ["agent", "model", "project"] as const;
type Kind = (typeof kinds)[number];
const measures = ["cost", "tokens"] as const;
type Measure = (typeof measures)[number];
const spans = ["7", "30", "90"] as const;

/** The number of series with a colour of their own; the other series share a colour. */
const MOST = 7;

/** Shows the cost per day, by agent, model or project. */
export function CostPage(): JSX.Element {
  const { query } = route.value;
  const by = kinds.find((each) => each === query.get("by")) ?? "agent";
  const days = spans.find((each) => each === query.get("days")) ?? "30";
  const report = useLoaded<CostReport>("cost", { days });
  const { value, problem } = report.value;
  const priced = (value?.rows ?? []).some(({ usd }) => usd > 0);
  const measure: Measure = measures.find((each) => each === query.get("of")) ?? (priced || !value ? "cost" : "tokens");
  const set = (more: Readonly<Record<string, string>>): void =>
    go(linkTo("cost", [], { by, days, of: query.get("of") ?? "", ...more }), true);
  return (
    <section class="page cost-page" aria-labelledby="title">
      <h1 id="title">Cost</h1>
      <div class="filters">
        <Segments label="By" all={kinds} value={by} choose={(next) => set({ by: next })} />
        <Segments label="Of" all={measures} value={measure} choose={(next) => set({ of: next })} />
        <Segments label="Days" all={spans} value={days} choose={(next) => set({ days: next })} />
      </div>
      {problem ? (
        <ErrorBox problem={problem} />
      ) : !value ? (
        <p class="dim wait">Adding up …</p>
      ) : value.rows.length === 0 ? (
        <Empty title={`Nothing was spent in ${days} days`}>
          <p>Every turn of a model is recorded with its tokens and its price. A limit for one run:</p>
          <Command line={'subcrew run explore "..." --max-usd 0.50'} />
        </Empty>
      ) : (
        <Plot report={value} by={by} measure={measure} />
      )}
    </section>
  );
}

function Segments<T extends string>({
  label,
  all,
  value,
  choose,
}: Readonly<{ label: string; all: readonly T[]; value: T; choose(next: T): void }>): JSX.Element {
  return (
    <div class="segments" role="group" aria-label={label}>
      {all.map((each) => (
        <button type="button" key={each} aria-pressed={value === each} onClick={() => choose(each)}>
          {label === "Days" ? `${each} days` : each}
        </button>
      ))}
    </div>
  );
}

/**
 * The largest width of the plot. It is drawn for the width of the window, so that its text has the normal size on a
 * phone.
 */
const WIDEST = 900;
const ROOM_OF_DAY = 70;
const HEIGHT = 260;
const LEFT = 62;
const BOTTOM = 24;

function Plot({ report, by, measure }: Readonly<{ report: CostReport; by: Kind; measure: Measure }>): JSX.Element {
  const of = (row: SpentRow): number => (measure === "cost" ? row.usd : row.tokens);
  const words = (amount: number): string =>
    measure === "cost"
      ? `$${amount < 10 ? amount.toFixed(amount < 0.1 ? 4 : 2) : Math.round(amount)}`
      : formatTokens(Math.round(amount));
  const ranked = rankedSums(report, by, of);
  const color = colorsOf(ranked);
  const byDay = new Map(report.days.map((day) => [day, new Map<string, number>()]));
  for (const row of report.rows) {
    const day = byDay.get(row.day);
    day?.set(row[by], (day.get(row[by]) ?? 0) + of(row));
  }
  const most = Math.max(
    1e-9,
    ...[...byDay.values()].map((day) => [...day.values()].reduce((sum, each) => sum + each, 0)),
  );
  const top = niceTop(most);
  const width = Math.min(WIDEST, Math.max(320, innerWidth - 50));
  const labelled = Math.ceil(report.days.length / Math.min(8, Math.floor((width - LEFT) / ROOM_OF_DAY)));
  const step = (width - LEFT) / report.days.length;
  const y = (amount: number): number => (HEIGHT - BOTTOM) * (1 - amount / top) + 6;
  const total = ranked.reduce((sum, [, { amount }]) => sum + amount, 0);
  const shown = (name: string): string => (by === "project" ? projectName(name) : name) || "unknown";
  return (
    <>
      <p class="total">
        <strong>{words(total)}</strong> <span class="dim">in {report.runs} runs</span>
      </p>
      <svg
        class="plot"
        viewBox={`0 0 ${width} ${HEIGHT + 8}`}
        role="img"
        aria-label={`${measure} per day by ${by}; the table below has the same numbers`}
      >
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <g key={part}>
            <line class="grid" x1={LEFT} x2={width} y1={y(top * part)} y2={y(top * part)} />
            <text class="tick" x={LEFT - 8} y={y(top * part) + 4} text-anchor="end">
              {part === 0 ? "0" : words(top * part)}
            </text>
          </g>
        ))}
        {report.days.map((day, at) => {
          let base = 0;
          const x = LEFT + at * step + step * 0.14;
          return (
            <g key={day}>
              {ranked.map(([name]) => {
                const amount = byDay.get(day)?.get(name) ?? 0;
                if (amount === 0) return null;
                const from = base;
                base += amount;
                return (
                  <rect
                    key={name}
                    class={`series-${color(name)}`}
                    x={x}
                    width={Math.max(1.5, step * 0.72)}
                    y={y(base)}
                    height={Math.max(0.8, y(from) - y(base))}
                  >
                    <title>{`${day}, ${shown(name)}: ${words(amount)}`}</title>
                  </rect>
                );
              })}
              {at % labelled === 0 ? (
                <text class="tick" x={LEFT + at * step + step / 2} y={HEIGHT} text-anchor="middle">
                  {day.slice(5)}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
      <SpentTable by={by} ranked={ranked} total={total} shown={shown} />
    </>
  );
}

type Sum = Readonly<{ amount: number; usd: number; tokens: number; turns: number; unpriced: number }>;
type Ranked = readonly (readonly [name: string, sum: Sum])[];

/** The sums by model, agent or project, the largest amount first. */
function rankedSums({ rows }: CostReport, by: Kind, amountOf: (row: SpentRow) => number): Ranked {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const sum = sums.get(row[by]) ?? { amount: 0, usd: 0, tokens: 0, turns: 0, unpriced: 0 };
    sums.set(row[by], {
      amount: sum.amount + amountOf(row),
      usd: sum.usd + row.usd,
      tokens: sum.tokens + row.tokens,
      turns: sum.turns + row.turns,
      unpriced: sum.unpriced + row.unpriced,
    });
  }
  return [...sums].toSorted(([, x], [, y]) => y.amount - x.amount);
}

/** The number of the colour of each name; the small sums share the last colour. */
function colorsOf(ranked: Ranked): (name: string) => number | undefined {
  const colors = new Map(ranked.map(([name], at) => [name, Math.min(at, MOST)]));
  return (name) => colors.get(name);
}

function SpentTable({
  by,
  ranked,
  total,
  shown,
}: Readonly<{ by: Kind; ranked: Ranked; total: number; shown(name: string): string }>): JSX.Element {
  const color = colorsOf(ranked);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Spent by ${by}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{by}</th>
            <th scope="col">Cost</th>
            <th scope="col">Tokens</th>
            <th scope="col">Turns</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {ranked.map(([name, { amount, usd, tokens, turns, unpriced }]) => (
            <tr key={name}>
              <th scope="row" title={name}>
                <i class={`swatch series-${color(name)}`} aria-hidden="true" /> {shown(name)}
              </th>
              <td class="number">
                ${usd.toFixed(4)}
                {unpriced > 0 ? <span class="dim"> + {unpriced} turns of unknown price</span> : null}
              </td>
              <td class="number">{formatTokens(tokens)}</td>
              <td class="number">{turns}</td>
              <td class="number">{total === 0 ? "" : `${Math.round((100 * amount) / total)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Rounds up to a round number: 1, 2 or 5 times a power of ten. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10) * power;
}
