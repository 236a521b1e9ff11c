const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
];

/** Returns a duration like kubectl: 45s, 12m, 5h, 3d. */
export function age(timestamp, nowMs = Date.now()) {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(timestamp)) / 1000));
  if (!Number.isFinite(seconds)) return '';
  for (const [unit, length] of units)
    if (seconds >= 2 * length || (unit === 'd' && seconds >= length)) return `${Math.floor(seconds / length)}${unit}`;
  return `${seconds}s`;
}

export const clockTime = (ms) => new Date(ms).toLocaleTimeString(undefined, { hour12: false });
