import type { NodeSelector } from '../../catalog/types/core.v1.js';
import type { ResourceSliceSpec } from '../../catalog/types/resource.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateNodeSelector } from '../core/pod/scheduling.validation.js';

/** The fields of ResourceSlices and devices that select the nodes with access to devices. */
type NodeChoice = Pick<ResourceSliceSpec, 'nodeName' | 'nodeSelector' | 'allNodes' | 'perDeviceNodeSelection'>;
export type NodeChoiceField = keyof NodeChoice;

/** Requires exactly one of `fields`, and validates the one that is set. */
export function validateNodeChoice(
  choice: NodeChoice,
  at: FieldPath,
  fields: readonly NodeChoiceField[],
): FieldError[] {
  const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const set = fields.filter((field) => isSet(choice[field]));
  const errors = set.flatMap((field) => validateField(choice, field, at.child(field)));
  const message = `exactly one of ${named(fields)} is required`;
  if (set.length === 0) return [...errors, fieldError.required(at, message)];
  if (set.length === 1) return errors;
  return [...errors, fieldError.invalid(at, `{${named(set)}}`, `${message}, but multiple fields are set`)];
}

function validateField(choice: NodeChoice, field: NodeChoiceField, at: FieldPath): FieldError[] {
  const { nodeName = '', nodeSelector = {} } = choice;
  switch (field) {
    case 'nodeName':
      return nodeName === ''
        ? [fieldError.invalid(at, nodeName, 'must be either unset or set to a non-empty string')]
        : checked(nodeName, at, nameIsDnsSubdomain);
    case 'nodeSelector':
      return validateOneTerm(nodeSelector, at);
    default:
      return choice[field] ? [] : [fieldError.invalid(at, choice[field], 'must be either unset or set to true')];
  }
}

function validateOneTerm(selector: NodeSelector, at: FieldPath): FieldError[] {
  const { nodeSelectorTerms: terms } = selector;
  const errors = validateNodeSelector(selector, at);
  if ((terms ?? []).length < 2) return errors;
  const message = 'must have exactly one node selector term';
  return [...errors, fieldError.invalid(at.child('nodeSelectorTerms'), terms, message)];
}
