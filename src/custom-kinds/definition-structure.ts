import { path, type FieldError } from '../machinery/field-error.js';
import { asFields, asItems, asText } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { listed } from '../machinery/listed.js';
import type { Finding } from './definition-conditions.js';
import { schemaOf } from './definition-view.js';
import { unsupported, validateStructure } from '../structural-schema/structural.validation.js';

const type = 'NonStructuralSchema';

/**
 * The NonStructuralSchema condition. Definitions created by older releases may have schemas that are not structural.
 */
export function structureFinding(definition: KubeObject): Finding | undefined {
  const spec = asFields(definition['spec']);
  const problems: string[] = [];
  if (spec['preserveUnknownFields'] === true) {
    problems.push('spec.preserveUnknownFields: Invalid value: true: must be false');
  }
  for (const [index, version] of asItems(spec['versions']).entries()) {
    const schema = schemaOf(version['schema']);
    if (!schema) continue;
    const problem = unsupported(schema);
    if (problem !== undefined) {
      const message = `failed to check validation schema for version ${asText(version['name'])}: ${problem}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    const at = path('spec').child('versions').index(index).child('schema', 'openAPIV3Schema');
    problems.push(...validateStructure(schema, at).map(told));
  }
  return problems.length === 0
    ? undefined
    : { type, status: 'True', reason: 'Violations', message: listed([...new Set(problems)]) };
}

const told = ({ field, detail }: FieldError) => `${field}: ${detail}`;
