import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, each, oneOf } from './field-rules.js';
import { asText, isSet, type Fields } from './fields.js';
import { isInt64 } from './int64.js';
import { validateQualifiedName } from './names.js';

const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonMismatch =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' " +
  `(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonPattern}')`;

/** Validates metav1.Condition items, whose types must be unique. */
export function validateConditions(conditions: unknown, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return each(conditions, at, (condition, conditionAt) => {
    const type = asText(condition['type']);
    const errors = seen.has(type) ? [fieldError.duplicate(conditionAt.child('type'), type)] : [];
    seen.add(type);
    return [...errors, ...validateCondition(condition, conditionAt)];
  });
}

function validateCondition(condition: Fields, at: FieldPath): FieldError[] {
  const reason = asText(condition['reason']);
  const reasonAt = at.child('reason');
  const errors = [
    ...checked(asText(condition['type']), at.child('type'), validateQualifiedName),
    ...oneOf(asText(condition['status']), at.child('status'), ['False', 'True', 'Unknown']),
  ];
  const { observedGeneration } = condition;
  if (isInt64(observedGeneration) && observedGeneration < 0) {
    const message = 'must be greater than or equal to zero';
    errors.push(fieldError.invalid(at.child('observedGeneration'), observedGeneration, message));
  }
  if (!isSet(condition['lastTransitionTime'])) {
    errors.push(fieldError.required(at.child('lastTransitionTime')));
  }
  if (reason === '') errors.push(fieldError.required(reasonAt));
  else if (!/^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) {
    errors.push(fieldError.invalid(reasonAt, reason, reasonMismatch));
  }
  if (Buffer.byteLength(reason) > reasonBytesMax) errors.push(fieldError.tooLong(reasonAt, reasonBytesMax));
  if (Buffer.byteLength(asText(condition['message'])) > messageBytesMax) {
    errors.push(fieldError.tooLong(at.child('message'), messageBytesMax));
  }
  return errors;
}
