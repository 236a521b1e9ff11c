/**
 * The types of the fields that the code of a kind relies on. A submitted object that has others is refused before any
 * strategy sees it. Fields that are not named may be anything.
 */
export type FieldType = 'string' | 'bool' | 'object' | 'array' | 'map[string]string';
export type Shape = Readonly<Record<string, FieldType>>;

/** What most kinds have. */
export const specAndStatus: Shape = { spec: 'object', status: 'object' };

/** The first field of another type, and what its value is instead. */
export function misfit(
  object: Readonly<Record<string, unknown>>,
  shape: Shape,
): { field: string; type: string; value: unknown } | undefined {
  for (const [field, type] of Object.entries(shape)) {
    const value = Object.hasOwn(object, field) ? object[field] : undefined;
    if (value === undefined || value === null) continue;
    if (type !== 'map[string]string') {
      if (!isOf(type, value)) return { field, type, value };
      continue;
    }
    if (!isOf('object', value)) return { field, type, value };
    for (const inner of Object.values(value)) {
      if (typeof inner !== 'string' && inner !== null) return { field, type: 'string', value: inner };
    }
  }
  return undefined;
}

function isOf(type: Exclude<FieldType, 'map[string]string'>, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === (type === 'bool' ? 'boolean' : type);
}
