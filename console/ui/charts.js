import { svg } from './dom.js';

const width = 640;
const height = 180;
const margin = { top: 10, right: 12, bottom: 22, left: 46 };

/** Returns a limit for an axis: 1, 2 or 5 times a power of ten. */
function niceMax(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((limit) => limit >= value);
}

/**
 * Draws lines over time. `series` is [{ name, values }] with undefined for gaps, all of one length; the last value is now.
 */
export function lineChart({ title, series, format, seconds }) {
  const plotWidth = width - margin.left - margin.right;
  const plotHeight = height - margin.top - margin.bottom;
  const max = niceMax(Math.max(0, ...series.flatMap(({ values }) => values.filter((one) => one !== undefined))));
  const length = Math.max(2, ...series.map(({ values }) => values.length));
  const x = (index) => margin.left + (plotWidth * index) / (length - 1);
  const y = (value) => margin.top + plotHeight * (1 - value / max);
  const latest = series.map(({ name, values }) => `${name} ${format(values.at(-1) ?? 0)}`).join(', ');
  return svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': `${title}: ${latest}` },
    [0, 0.5, 1].map((part) => [
      svg('line', {
        class: 'chart-grid',
        x1: margin.left,
        x2: width - margin.right,
        y1: y(max * part),
        y2: y(max * part),
      }),
      svg(
        'text',
        { class: 'chart-label', x: margin.left - 6, y: y(max * part) + 4, 'text-anchor': 'end' },
        format(max * part),
      ),
    ]),
    svg('text', { class: 'chart-label', x: margin.left, y: height - 6 }, `${seconds} s ago`),
    svg('text', { class: 'chart-label', x: width - margin.right, y: height - 6, 'text-anchor': 'end' }, 'now'),
    series.map(({ values }, index) =>
      svg('path', { class: `chart-line series-${index % 6}`, d: pathOf(values, x, y) }),
    ),
  );
}

function pathOf(values, x, y) {
  let isDown = false;
  let path = '';
  values.forEach((value, index) => {
    if (value === undefined) isDown = false;
    else {
      path += `${isDown ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isDown = true;
    }
  });
  return path;
}

/** Draws small bars, one a value. */
export function sparkline(values, label) {
  const max = Math.max(1, ...values);
  return svg(
    'svg',
    { viewBox: `0 0 ${values.length * 2} 20`, class: 'sparkline', role: 'img', 'aria-label': label },
    values.map((value, index) => {
      const barHeight = (18 * value) / max;
      return svg('rect', { x: index * 2, y: 20 - Math.max(1, barHeight), width: 1.5, height: Math.max(1, barHeight) });
    }),
  );
}

/** Draws seats: executing and waiting requests beside the limit of a priority level. */
export function seatBar({ executing, waiting, limit, label }) {
  // A level without a limit is drawn as if it had ten seats.
  const max = Math.max(limit || 10, executing + waiting);
  const part = (value) => (100 * value) / max;
  return svg(
    'svg',
    { viewBox: '0 0 100 8', class: 'seat-bar', role: 'img', 'aria-label': label, preserveAspectRatio: 'none' },
    svg('rect', { class: 'seat-track', x: 0, y: 0, width: part(limit), height: 8 }),
    svg('rect', { class: 'seat-executing', x: 0, y: 0, width: part(executing), height: 8 }),
    svg('rect', { class: 'seat-waiting', x: part(executing), y: 0, width: part(waiting), height: 8 }),
  );
}
