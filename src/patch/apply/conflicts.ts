import { ApiError } from '../../machinery/api-error.js';
import { validationErrorsMax } from '../../machinery/error-budget.js';
import { goQuote } from '../../machinery/field-error.js';
import { countMembers, pathsOf, pathText, type FieldSet } from './field-set.js';
import type { Owner } from './managed-fields.js';

/** A field of another owner that an apply would change. */
export interface Conflict {
  readonly id: string;
  readonly owner: Owner;
  readonly fields: FieldSet;
}

/** The limit on errors of one validation (ADR 027). */
const conflictsMax = validationErrorsMax;

/** The conflict error (409), with a cause for each field and owner up to a limit; the message has the total. */
export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const found: { who: string; paths: readonly string[] }[] = [];
  let told = 0;
  let count = 0;
  for (const { owner, fields } of [...conflicts].sort(byId)) {
    count += countMembers(fields);
    const paths: string[] = [];
    for (const path of pathsOf(fields)) {
      if (told >= conflictsMax) break;
      told++;
      paths.push(pathText(path));
    }
    if (paths.length > 0) found.push({ who: ownerText(owner), paths });
  }
  const causes = found.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  if (count > told) causes.push({ reason: 'FieldValueTooMany', message: `${count - told} more conflicts`, field: '*' });
  return new ApiError({ reason: 'Conflict', message: messageOf(found, count), details: { causes } });
}

function byId(a: Conflict, b: Conflict): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function messageOf(found: readonly { who: string; paths: readonly string[] }[], count: number): string {
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${found[0]!.who}: ${found[0]!.paths[0]}`;
  const lines = found.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)]);
  if (count > conflictsMax) lines.push(`and ${count - conflictsMax} more`);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
