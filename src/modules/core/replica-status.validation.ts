import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { asFields, asNumber } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

const at = path('status');

/** Counters say how many, so none is below zero. */
export function validateCounters(object: KubeObject, counters: readonly string[]): FieldError[] {
  const status = asFields(object['status']);
  return counters.flatMap((counter) => notNegative(status[counter], at.child(counter)));
}

/** What is ready, or up to date, is part of what there is. `whole` is named in the message as `shownAs` has it. */
export function validateParts(
  object: KubeObject,
  parts: readonly string[],
  whole: string,
  shownAs = `status.${whole}`,
): FieldError[] {
  const status = asFields(object['status']);
  return parts
    .filter((part) => asNumber(status[part]) > asNumber(status[whole]))
    .map((part) => fieldError.invalid(at.child(part), asNumber(status[part]), `cannot be greater than ${shownAs}`));
}

/** Collisions are counted for names to differ: a number that was used must not come back. */
export function validateCollisions(object: KubeObject, old: KubeObject): FieldError[] {
  const { collisionCount: before } = asFields(old['status']);
  const { collisionCount: after } = asFields(object['status']);
  if (typeof before !== 'number' || (typeof after === 'number' && after >= before)) return [];
  return [fieldError.invalid(at.child('collisionCount'), asNumber(after), 'cannot be decremented')];
}
