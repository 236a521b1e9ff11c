/** What people read of a field in `kubectl explain`. '' is the type itself. */
export function describeField(struct: string, field: string): string | undefined {
  return texts[struct]?.[field] ?? (field === '' ? undefined : ofAll[field]);
}

const ofAll: Readonly<Record<string, string>> = {};
const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
