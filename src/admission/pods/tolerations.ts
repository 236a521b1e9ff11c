import { deepEqual } from '../../machinery/deep-equal.js';
import { valueKey } from '../../machinery/value-key.js';
import { asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';

/** Both lists as one, without those that another one of them already says. */
export function mergeTolerations(first: unknown, second: unknown): Fields[] {
  const all = [...asItems(first), ...asItems(second)];
  const keys = all.map(valueKey);
  // The later ones, and the kept ones, by class: only a toleration of the same class may cover another.
  const later = new Coverage();
  for (let index = all.length - 1; index >= 0; index--) later.push(all[index]!, keys[index]!);
  const merged = new Coverage();
  return all.filter((toleration, index) => {
    later.pop(toleration);
    // Of two that say the same, the first stays.
    if (merged.has(toleration) || later.has(toleration, keys[index])) return false;
    merged.push(toleration, keys[index]!);
    return true;
  });
}

/** The longest time of the tolerations of one class, and the longest of those that differ from that one. */
interface Longest {
  readonly seconds: number;
  readonly key: string;
  readonly other: { readonly seconds: number; readonly key: string } | undefined;
}

/**
 * Tolerations by class: key, operator with value, and effect. Those of a class differ in how long they hold, so that
 * the one that holds longest covers what any of them covers. Each push can be taken back, the last one first.
 */
class Coverage {
  private readonly classes = new Map<string, Longest[]>();

  push(toleration: Fields, key: string): void {
    const name = classOf(toleration);
    const stack = this.classes.get(name) ?? [];
    this.classes.set(name, stack);
    stack.push(longer({ seconds: secondsOf(toleration), key }, stack.at(-1)));
  }

  pop(toleration: Fields): void {
    this.classes.get(classOf(toleration))!.pop();
  }

  /** True if one that is not `exceptKey` covers the toleration. */
  has(toleration: Fields, exceptKey?: string): boolean {
    const seconds = isSet(toleration['tolerationSeconds']) ? asNumber(toleration['tolerationSeconds']) : Infinity;
    return coveringClasses(toleration).some((name) => {
      const longest = this.classes.get(name)?.at(-1);
      const best = longest && longest.key === exceptKey ? longest.other : longest;
      return best !== undefined && best.seconds >= seconds;
    });
  }
}

function longer(next: { seconds: number; key: string }, longest: Longest | undefined): Longest {
  if (!longest) return { ...next, other: undefined };
  if (next.key === longest.key) return longest;
  const { seconds, key, other } = longest;
  if (next.seconds > seconds) return { ...next, other: { seconds, key } };
  if (other && (other.key === next.key || other.seconds >= next.seconds)) return longest;
  return { seconds, key, other: next };
}

/** Seconds say something of the effect NoExecute alone. */
function secondsOf(toleration: Fields): number {
  const counts = asText(toleration['effect']) === 'NoExecute' && isSet(toleration['tolerationSeconds']);
  return counts ? asNumber(toleration['tolerationSeconds']) : Infinity;
}

const className = (key: string, match: string, effect: string): string => valueKey([key, match, effect]);

function classOf(toleration: Fields): string {
  return className(asText(toleration['key']), matchOf(toleration), asText(toleration['effect']));
}

function matchOf(toleration: Fields): string {
  if (toleration['operator'] === 'Exists') return 'exists';
  return isEqual(toleration) ? `equal ${asText(toleration['value'])}` : `itself ${valueKey(toleration)}`;
}

/** The classes whose tolerations cover this one if they hold as long. */
function coveringClasses(toleration: Fields): string[] {
  const key = asText(toleration['key']);
  const effect = asText(toleration['effect']);
  const effects = new Set(['', effect]);
  const own = matchOf(toleration);
  return [...effects].flatMap((wide) => [
    className('', 'exists', wide),
    ...(key === '' ? [] : [className(key, 'exists', wide)]),
    ...(own === 'exists' ? [] : [className(key, own, wide)]),
  ]);
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
