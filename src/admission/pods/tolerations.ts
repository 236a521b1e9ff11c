import { deepEqual } from '../../machinery/deep-equal.js';
import { asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';

/** Both lists as one, without those that another one of them already says. */
export function mergeTolerations(first: unknown, second: unknown): Fields[] {
  const all = [...asItems(first), ...asItems(second)];
  const merged: Fields[] = [];
  all.forEach((toleration, index) => {
    if (merged.some((other) => covers(other, toleration))) return;
    const later = all.slice(index + 1);
    // Of two that say the same, the first stays.
    if (later.some((other) => !deepEqual(other, toleration) && covers(other, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

/** Whether whatever the second tolerates is tolerated by the first too. */
export function covers(wide: Fields, narrow: Fields): boolean {
  if (deepEqual(wide, narrow)) return true;
  const anyKey = asText(wide['key']) === '' && wide['operator'] === 'Exists';
  if (!anyKey && asText(wide['key']) !== asText(narrow['key'])) return false;
  const effect = asText(wide['effect']);
  if (effect !== '' && effect !== asText(narrow['effect'])) return false;
  if (effect === 'NoExecute' && isSet(wide['tolerationSeconds'])) {
    if (!isSet(narrow['tolerationSeconds'])) return false;
    if (asNumber(narrow['tolerationSeconds']) > asNumber(wide['tolerationSeconds'])) return false;
  }
  if (wide['operator'] === 'Exists') return true;
  return isEqual(wide) && isEqual(narrow) && asText(wide['value']) === asText(narrow['value']);
}

/** No operator means Equal. */
function isEqual(toleration: Fields): boolean {
  const operator = asText(toleration['operator']);
  return operator === '' || operator === 'Equal';
}

/** Adds one, unless there is one with its key, operator, value and effect: that one takes its seconds over. */
export function putToleration(spec: Fields, toleration: Fields): void {
  const list = asItems(spec['tolerations']);
  const same = ['key', 'operator', 'value', 'effect'];
  const at = list.findIndex((other) => same.every((field) => asText(other[field]) === asText(toleration[field])));
  if (at < 0) list.push(toleration);
  else list[at] = toleration;
  spec['tolerations'] = list;
}
