import type { PodSpec, Toleration } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import type { Int64 } from '../../machinery/int64.js';
import type { Mutable } from '../../machinery/mutable.js';
import { valueKey } from '../../machinery/value-key.js';

/** Joins both lists and leaves out each toleration that another one of them covers. */
export function mergeTolerations(first: readonly Toleration[] = [], second: readonly Toleration[] = []): Toleration[] {
  const all = [...first, ...second];
  const keys = all.map(valueKey);
  // Grouped by class, since only tolerations of some classes may cover a toleration: large lists stay cheap.
  const later = new Coverage();
  for (let index = all.length - 1; index >= 0; index--) later.push(all[index]!, keys[index]!);
  const merged = new Coverage();
  return all.filter((toleration, index) => {
    later.pop(toleration);
    // Of two equal tolerations, the first stays.
    if (merged.has(toleration) || later.has(toleration, keys[index])) return false;
    merged.push(toleration, keys[index]!);
    return true;
  });
}

/** The longest time of the tolerations of one class, and the longest of those that differ from that one. */
interface Longest {
  readonly seconds: Int64;
  readonly key: string;
  readonly other: { readonly seconds: Int64; readonly key: string } | undefined;
}

/**
 * Tolerations by class: key, operator with value, and effect. Those of a class differ in tolerationSeconds only, so the
 * longest covers all that any of them covers. Pushes are undone in reverse order.
 */
class Coverage {
  private readonly classes = new Map<string, Longest[]>();

  push(toleration: Toleration, key: string): void {
    const name = classOf(toleration);
    const stack = this.classes.get(name) ?? [];
    this.classes.set(name, stack);
    stack.push(longer({ seconds: secondsOf(toleration), key }, stack.at(-1)));
  }

  pop(toleration: Toleration): void {
    this.classes.get(classOf(toleration))!.pop();
  }

  /** True if a toleration with another key than `exceptKey` covers this one. */
  has(toleration: Toleration, exceptKey?: string): boolean {
    const { tolerationSeconds: seconds = Infinity } = toleration;
    return coveringClasses(toleration).some((name) => {
      const longest = this.classes.get(name)?.at(-1);
      const best = longest && longest.key === exceptKey ? longest.other : longest;
      return best !== undefined && best.seconds >= seconds;
    });
  }
}

function longer(next: { seconds: Int64; key: string }, longest: Longest | undefined): Longest {
  if (!longest) return { ...next, other: undefined };
  if (next.key === longest.key) return longest;
  const { seconds, key, other } = longest;
  if (next.seconds > seconds) return { ...next, other: { seconds, key } };
  if (other && (other.key === next.key || other.seconds >= next.seconds)) return longest;
  return { seconds, key, other: next };
}

/** tolerationSeconds applies to the effect NoExecute only. */
function secondsOf({ effect, tolerationSeconds = Infinity }: Toleration): Int64 {
  return effect === 'NoExecute' ? tolerationSeconds : Infinity;
}

const className = (key: string, match: string, effect: string): string => valueKey([key, match, effect]);

function classOf(toleration: Toleration): string {
  return className(toleration.key ?? '', matchOf(toleration), toleration.effect ?? '');
}

function matchOf(toleration: Toleration): string {
  if (toleration.operator === 'Exists') return 'exists';
  return isEqual(toleration) ? `equal ${toleration.value ?? ''}` : `itself ${valueKey(toleration)}`;
}

/** Returns the classes whose tolerations cover this one if they last as long. */
function coveringClasses(toleration: Toleration): string[] {
  const { key = '', effect = '' } = toleration;
  const own = matchOf(toleration);
  return [...new Set(['', effect])].flatMap((wide) => [
    className('', 'exists', wide),
    ...(key === '' ? [] : [className(key, 'exists', wide)]),
    ...(own === 'exists' ? [] : [className(key, own, wide)]),
  ]);
}

/** True if the first toleration tolerates every taint that the second one does. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true;
  const { key = '', effect = '' } = wide;
  const anyKey = key === '' && wide.operator === 'Exists';
  if (!anyKey && key !== (narrow.key ?? '')) return false;
  if (effect !== '' && effect !== (narrow.effect ?? '')) return false;
  if (effect === 'NoExecute' && (narrow.tolerationSeconds ?? Infinity) > (wide.tolerationSeconds ?? Infinity)) {
    return false;
  }
  if (wide.operator === 'Exists') return true;
  return isEqual(wide) && isEqual(narrow) && (wide.value ?? '') === (narrow.value ?? '');
}

/** An absent operator means Equal. */
function isEqual({ operator = '' }: Toleration): boolean {
  return operator === '' || operator === 'Equal';
}

/** Adds a toleration, or replaces the one with the same key, operator, value and effect. */
export function putToleration(spec: Mutable<PodSpec>, toleration: Toleration): void {
  const list: Toleration[] = [...(spec.tolerations ?? [])];
  const same = ['key', 'operator', 'value', 'effect'] as const;
  const at = list.findIndex((other) => same.every((field) => (other[field] ?? '') === (toleration[field] ?? '')));
  if (at < 0) list.push(toleration);
  else list[at] = toleration;
  spec.tolerations = list;
}
