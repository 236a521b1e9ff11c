import type { CustomResourceSubresources } from '../../catalog/types/apiextensions.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { validateSimplePath } from './column.validation.js';

/** Validates the JSON paths of the scale subresource. */
export function validateSubresources({ scale }: CustomResourceSubresources = {}, at: FieldPath): FieldError[] {
  if (!scale) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath: selector = '' } = scale;
  const scaleAt = at.child('scale');
  return [
    ...replicasPath(specReplicasPath, scaleAt.child('specReplicasPath'), ['spec']),
    ...replicasPath(statusReplicasPath, scaleAt.child('statusReplicasPath'), ['status']),
    ...(selector === '' ? [] : under(selector, scaleAt.child('labelSelectorPath'), ['spec', 'status'])),
  ];
}

function replicasPath(text = '', at: FieldPath, roots: readonly string[]): FieldError[] {
  return text === '' ? required(text, at) : under(text, at, roots);
}

function under(text: string, at: FieldPath, roots: readonly string[]): FieldError[] {
  const errors = validateSimplePath(text, at);
  if (errors.length > 0 || roots.some((root) => text.startsWith(`.${root}.`))) return errors;
  const names = roots.map((root) => `.${root}`).join(' or ');
  const parents = roots.length === 1 ? names : `either ${names}`;
  return [fieldError.invalid(at, text, `should be a json path under ${parents}`)];
}
