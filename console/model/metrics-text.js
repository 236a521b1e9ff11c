// Reads samples of the Prometheus text format.

/** Returns the samples of the named metrics: Map of name to [{ labels, value }]. */
export function samplesOf(text, names) {
  const wanted = new Map(names.map((name) => [name, []]));
  for (const line of text.split('\n')) {
    if (line === '' || line[0] === '#') continue;
    const end = line.search(/[{ ]/);
    const samples = wanted.get(end < 0 ? line : line.slice(0, end));
    if (!samples) continue;
    const hasLabels = line[end] === '{';
    const close = hasLabels ? line.lastIndexOf('}') : end - 1;
    const labels = hasLabels ? labelsOf(line.slice(end + 1, close)) : {};
    samples.push({
      labels,
      value: Number(
        line
          .slice(close + 1)
          .trim()
          .split(' ')[0],
      ),
    });
  }
  return wanted;
}

function labelsOf(text) {
  const labels = Object.create(null);
  for (const [, name, value] of text.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
  return labels;
}

/** Returns the sums of samples by the value of a label. */
export function sumBy(samples, label) {
  const sums = new Map();
  for (const { labels, value } of samples) sums.set(labels[label], (sums.get(labels[label]) ?? 0) + value);
  return sums;
}

/**
 * Returns a quantile in seconds of what a histogram counted between two readings, by linear interpolation. `before` and
 * `after` are counts by upper bound.
 */
export function quantile(before, after, fraction) {
  const bounds = [...after.keys()].map(toBound).sort((a, b) => a - b);
  const counts = bounds.map((bound) => (after.get(keyOf(bound)) ?? 0) - (before.get(keyOf(bound)) ?? 0));
  const total = counts.at(-1) ?? 0;
  if (total <= 0) return undefined;
  const wanted = fraction * total;
  const at = counts.findIndex((count) => count >= wanted);
  const [low, lowCount] = at === 0 ? [0, 0] : [bounds[at - 1], counts[at - 1]];
  if (bounds[at] === Infinity) return low;
  return low + ((bounds[at] - low) * (wanted - lowCount)) / Math.max(1, counts[at] - lowCount);
}

const toBound = (key) => (key === '+Inf' ? Infinity : Number(key));
const keyOf = (bound) => (bound === Infinity ? '+Inf' : String(bound));

/** Returns counts of a histogram by upper bound, for the samples that `matches`. */
export function bucketsOf(samples, matches) {
  const counts = new Map();
  for (const { labels, value } of samples) {
    if (!matches(labels)) continue;
    const key = labels.le === '+Inf' ? '+Inf' : String(Number(labels.le));
    counts.set(key, (counts.get(key) ?? 0) + value);
  }
  return counts;
}

/** Reads the table of dump_priority_levels: a list of objects by the names of the columns. */
export function dumpedTable(text) {
  const [head = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  const names = head.split(',').map((name) => name.trim());
  return lines.map((line) => {
    const cells = line.split(',').map((cell) => cell.trim());
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  });
}
