// Durations in Go's syntax: "1h30m", "300ms", "1.5s", "0". Stored as whole milliseconds.
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const term = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/**
 * Returns milliseconds, rounded up so that a tiny duration does not become 0 (off); undefined if the text is invalid.
 */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  const body = /^[+-]/.test(text) ? text.slice(1) : text;
  if (body === '0') return 0;
  let total = 0;
  let end = 0;
  for (const match of body.matchAll(term)) {
    total += Number(match[1]) * unitMs[match[2]!]!;
    end = match.index + match[0].length;
  }
  if (end === 0 || end !== body.length || total > Number.MAX_SAFE_INTEGER) return undefined;
  const ms = Math.ceil(total - 1e-9) || 0;
  return negative && ms > 0 ? -ms : ms;
}
