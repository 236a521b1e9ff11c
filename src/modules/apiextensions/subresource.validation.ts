import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asFields, asText, isSet } from '../../machinery/fields.js';
import { validateSimplePath } from './column.validation.js';

/** Validates the JSON paths of the scale subresource. */
export function validateSubresources(subresources: unknown, at: FieldPath): FieldError[] {
  const { scale } = asFields(subresources);
  if (!isSet(scale)) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = asFields(scale);
  const where = at.child('scale');
  const selector = asText(labelSelectorPath);
  return [
    ...replicasPath(specReplicasPath, where.child('specReplicasPath'), ['spec']),
    ...replicasPath(statusReplicasPath, where.child('statusReplicasPath'), ['status']),
    ...(selector === '' ? [] : under(selector, where.child('labelSelectorPath'), ['spec', 'status'])),
  ];
}

function replicasPath(value: unknown, at: FieldPath, roots: readonly string[]): FieldError[] {
  const text = asText(value);
  return text === '' ? required(text, at) : under(text, at, roots);
}

function under(text: string, at: FieldPath, roots: readonly string[]): FieldError[] {
  const errors = validateSimplePath(text, at);
  if (errors.length > 0 || roots.some((root) => text.startsWith(`.${root}.`))) return errors;
  const names = roots.map((root) => `.${root}`).join(' or ');
  const where = roots.length === 1 ? names : `either ${names}`;
  return [fieldError.invalid(at, text, `should be a json path under ${where}`)];
}
