import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { managedFieldsProblem } from '../../patch/apply/managed-fields.js';

const problemText =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
  'admission controller; please fix your requests: ';

/** Restores managedFields, with a warning, if mutating admission has replaced them by some that cannot be read. */
export function restoreManagedFields(
  { metadata }: KubeObject,
  before: ObjectMeta['managedFields'],
  warnings: string[],
): void {
  const { managedFields } = metadata;
  if (managedFields === before || !managedFields) return;
  const problem = managedFieldsProblem(managedFields);
  if (problem === undefined) return;
  if (before) metadata.managedFields = before;
  else delete metadata.managedFields;
  warnings.push(problemText + problem);
}
