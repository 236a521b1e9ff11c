export const orNone = (text: string): string => (text === '' ? '<none>' : text);
export const orUnknown = (text: string): string => (text === '' ? '<unknown>' : text);

/** Returns labels as `a=b,c=d`, sorted by key. */
export function labelsCell(labels: Readonly<Record<string, string>> | null | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return orNone(pairs.sort().join(','));
}
