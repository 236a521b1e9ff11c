import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import { pathsOf, pathText, type FieldSet } from './field-set.js';
import type { Owner } from './managed-fields.js';

/** A field that an apply would change under somebody else's hands. */
export interface Conflict {
  readonly id: string;
  readonly owner: Owner;
  readonly fields: FieldSet;
}

/** 409 with one cause for every field and owner. */
export function conflictError(conflicts: readonly Conflict[]): ApiError {
  const found = [...conflicts]
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(({ owner, fields }) => ({ who: ownerText(owner), paths: [...pathsOf(fields)].map(pathText) }));
  const causes = found.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  return new ApiError({ reason: 'Conflict', message: messageOf(found, causes.length), details: { causes } });
}

function messageOf(found: readonly { who: string; paths: readonly string[] }[], count: number): string {
  if (count === 1) return `Apply failed with 1 conflict: conflict with ${found[0]!.who}: ${found[0]!.paths[0]}`;
  const lines = found.flatMap(({ who, paths }) => [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)]);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = subresource === '' ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
