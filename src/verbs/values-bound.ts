import { managedFieldsValuesMax, tooManyValues } from '../codec/value-budget.js';
import { countValues } from '../machinery/count-values.js';
import { isJsonObject, type JsonValue } from '../machinery/kube-object.js';

/**
 * Bounds the number of values of a patched object as that of request bodies, since a patch adds to the stored object.
 * metadata.managedFields has its own bound, as in ValueBudget. Throws 413.
 */
export function requireValuesWithin(object: JsonValue, valuesMax: number): void {
  const recordMax = managedFieldsValuesMax(valuesMax);
  const count = countValues(object, valuesMax + recordMax);
  if (count <= valuesMax) return;
  const metadata = isJsonObject(object) ? object['metadata'] : undefined;
  const record = isJsonObject(metadata ?? null) ? (metadata as Record<string, JsonValue>)['managedFields'] : undefined;
  const recordCount = record === undefined ? 0 : countValues(record, recordMax);
  if (recordCount > recordMax) throw tooManyValues(valuesMax, true);
  if (count - recordCount > valuesMax) throw tooManyValues(valuesMax, false);
}
