import { asTextMap } from '../../machinery/fields.js';

export const orNone = (text: string): string => (text === '' ? '<none>' : text);
export const orUnknown = (text: string): string => (text === '' ? '<unknown>' : text);

/** Returns labels as `a=b,c=d`, sorted by key. */
export function labelsCell(labels: unknown): string {
  const pairs = asTextMap(labels).map(([key, value]) => `${key}=${value}`);
  return orNone(pairs.sort().join(','));
}
