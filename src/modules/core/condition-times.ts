import { asFields, asItems, type Fields } from '../../machinery/fields.js';

/** Times of conditions are always there, if only to say that nobody knows: clients of typed kinds rely on the fields. */
export function fillConditionTimes(owner: Fields, ...times: string[]): void {
  for (const condition of asItems(asFields(owner['status'])['conditions'])) {
    for (const time of times) condition[time] ??= null;
  }
}
