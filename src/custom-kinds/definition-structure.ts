import type { CustomResourceDefinition } from '../catalog/types/apiextensions.v1.js';
import { path, type FieldError } from '../machinery/field-error.js';
import { listed } from '../machinery/listed.js';
import type { Finding } from './definition-conditions.js';
import { schemaOf } from './definition-view.js';
import { unsupported, validateStructure } from '../structural-schema/structural.validation.js';

const type = 'NonStructuralSchema';

/**
 * The NonStructuralSchema condition. Definitions created by older releases may have schemas that are not structural.
 */
export function structureFinding({ spec = {} }: CustomResourceDefinition): Finding | undefined {
  const problems: string[] = [];
  if (spec.preserveUnknownFields) {
    problems.push('spec.preserveUnknownFields: Invalid value: true: must be false');
  }
  for (const [index, version] of (spec.versions ?? []).entries()) {
    const schema = schemaOf(version.schema);
    if (!schema) continue;
    const problem = unsupported(schema);
    if (problem !== undefined) {
      const message = `failed to check validation schema for version ${version.name ?? ''}: ${problem}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    const at = path('spec').child('versions').index(index).child('schema', 'openAPIV3Schema');
    problems.push(...validateStructure(schema, at).map(shown));
  }
  return problems.length === 0
    ? undefined
    : { type, status: 'True', reason: 'Violations', message: listed([...new Set(problems)]) };
}

const shown = ({ field, detail }: FieldError) => `${field}: ${detail}`;
