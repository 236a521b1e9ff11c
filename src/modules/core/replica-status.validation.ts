import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';

type HasStatus<Field extends string, Value> = {
  readonly status?: { readonly [Name in Field]?: Value | undefined } | undefined;
};

const at = path('status');

export function validateCounters<Counter extends string>(
  { status }: HasStatus<Counter, number | bigint>,
  counters: readonly Counter[],
): FieldError[] {
  return counters.flatMap((counter) => notNegative(status?.[counter], at.child(counter)));
}

/** Requires that counters are at most the counter `total`, which messages name as `shownAs`. */
export function validateAtMost<Counter extends string, Total extends string>(
  { status = {} }: HasStatus<Counter | Total, number>,
  counters: readonly Counter[],
  total: Total,
  shownAs = `status.${total}`,
): FieldError[] {
  const max = status[total] ?? 0;
  return counters.flatMap((counter) => {
    const count = status[counter] ?? 0;
    return count > max ? [fieldError.invalid(at.child(counter), count, `cannot be greater than ${shownAs}`)] : [];
  });
}

/** Rejects a decrement of collisionCount: it is part of the hash in names, which must not repeat. */
export function validateCollisions(
  { status }: HasStatus<'collisionCount', number>,
  { status: oldStatus }: HasStatus<'collisionCount', number>,
): FieldError[] {
  const oldCount = oldStatus?.collisionCount;
  const count = status?.collisionCount;
  if (oldCount === undefined || (count !== undefined && count >= oldCount)) return [];
  return [fieldError.invalid(at.child('collisionCount'), count ?? 0, 'cannot be decremented')];
}
