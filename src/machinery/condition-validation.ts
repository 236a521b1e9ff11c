import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, each, oneOf } from './field-rules.js';
import type { Int64 } from './int64.js';
import { validateQualifiedName } from './names.js';

const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonMismatch =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' " +
  `(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`;

/** metav1.Condition. */
interface Condition {
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly observedGeneration?: Int64 | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Validates conditions, whose types must be unique. */
export function validateConditions(conditions: readonly Condition[] | null | undefined, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(conditions, at, (condition, conditionAt) => {
    const { type = '' } = condition;
    const errors = seen.has(type) ? [fieldError.duplicate(conditionAt.child('type'), type)] : [];
    seen.add(type);
    return [...errors, ...validateCondition(condition, conditionAt)];
  });
}

function validateCondition(condition: Condition, at: FieldPath): FieldError[] {
  const { type = '', status = '', observedGeneration, lastTransitionTime, reason = '', message = '' } = condition;
  const reasonAt = at.child('reason');
  const errors = [
    ...checked(type, at.child('type'), validateQualifiedName),
    ...oneOf(status, at.child('status'), ['False', 'True', 'Unknown']),
  ];
  if (observedGeneration !== undefined && observedGeneration < 0) {
    const problem = 'must be greater than or equal to zero';
    errors.push(fieldError.invalid(at.child('observedGeneration'), observedGeneration, problem));
  }
  if ((lastTransitionTime ?? null) === null) errors.push(fieldError.required(at.child('lastTransitionTime')));
  if (reason === '') errors.push(fieldError.required(reasonAt));
  else if (!/^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) {
    errors.push(fieldError.invalid(reasonAt, reason, reasonMismatch));
  }
  if (Buffer.byteLength(reason) > reasonBytesMax) errors.push(fieldError.tooLong(reasonAt, reasonBytesMax));
  if (Buffer.byteLength(message) > messageBytesMax) {
    errors.push(fieldError.tooLong(at.child('message'), messageBytesMax));
  }
  return errors;
}
