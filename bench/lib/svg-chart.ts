/** A line chart with logarithmic x axis and an y axis from 0, as the text of an SVG file. */
interface Chart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xs: readonly number[];
  readonly lines: readonly { readonly label: string; readonly ys: readonly number[] }[];
}

const [width, height] = [640, 360];
const area = { left: 56, right: 32, top: 40, bottom: 64 };
const colors = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df'];
const gridLines = 4;

export function svgChart({ title, xLabel, yLabel, xs, lines }: Chart): string {
  const yMax = roundUp(Math.max(...lines.flatMap(({ ys }) => ys)));
  const [first, last] = [Math.log(xs[0]!), Math.log(xs.at(-1)!)];
  const x = (value: number) =>
    area.left + ((Math.log(value) - first) / (last - first)) * (width - area.left - area.right);
  const y = (value: number) => height - area.bottom - (value / yMax) * (height - area.top - area.bottom);
  const at = (value: number) => value.toFixed(1);
  const text = (left: number, top: number, anchor: string, words: string) =>
    `<text x="${at(left)}" y="${at(top)}" text-anchor="${anchor}">${words}</text>`;
  const grid = Array.from({ length: gridLines + 1 }, (_, index) => (yMax * index) / gridLines).flatMap((value) => [
    `<path d="M${area.left} ${at(y(value))}H${width - area.right}" stroke="#d0d7de"/>`,
    text(area.left - 6, y(value) + 4, 'end', String(Number(value.toPrecision(3)))),
  ]);
  const ticks = xs.map((value) => text(x(value), height - area.bottom + 18, 'middle', value.toLocaleString('en-US')));
  const drawn = lines.flatMap(({ label, ys }, index) => {
    const color = colors[index % colors.length]!;
    const points = ys.map((value, place) => `${at(x(xs[place]!))},${at(y(value))}`);
    const left = area.left + (index * (width - area.left)) / lines.length;
    return [
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      `<rect x="${at(left)}" y="${height - 20}" width="10" height="10" fill="${color}"/>`,
      text(left + 15, height - 11, 'start', label),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<g fill="#24292f">`,
    text(area.left, 18, 'start', title),
    text(area.left, 34, 'start', yLabel),
    text(width - area.right, height - area.bottom + 34, 'end', xLabel),
    ...grid,
    ...ticks,
    ...drawn,
    '</g></svg>',
    '',
  ].join('\n');
}

/** Returns the next of 1, 2, 4, 5, 6, 8, 10 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return power * [1, 2, 4, 5, 6, 8, 10].find((step) => step * power >= value)!;
}
