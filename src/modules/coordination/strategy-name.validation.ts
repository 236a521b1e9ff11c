import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';

/** The one strategy that has no domain in its name. */
export const oldestFirst = 'OldestEmulationVersion';

/** Validates the name of the strategy that chooses the holder of a Lease. */
export function validateStrategyName(name: string, at: FieldPath): FieldError[] {
  if (name === oldestFirst) return [];
  const problems = checked(name, at, validateQualifiedName);
  if (name.includes('/')) return problems;
  return [...problems, fieldError.invalid(at, name, 'should be fully qualified')];
}
