import { fillBytes } from './attack.js';
import { valuesBound, valuesOf } from './requests.js';
import { entryOf, keyOf, type EntryStyle } from './entries.js';
import type { Container } from './field-walk.js';
import type { Json, JsonObject } from './templates.js';

const hole = 'a-hole-to-fill';

/** An object with one list or map that is filled up to a number of bytes. */
interface Filled {
  /** JSON text. */
  readonly text: string;
  readonly entries: number;
}

interface FillOptions {
  readonly style: EntryStyle;
  readonly bytes?: number;
  /** Reverses the entries: an update that changes every one of them. */
  readonly isReversed?: boolean;
}

/** Fills one list or map of the object with entries of a style. */
export function filledObject(object: JsonObject, container: Container, options: FillOptions): Filled {
  const { style, bytes = fillBytes, isReversed = false } = options;
  const holder = structuredClone(object);
  const like = putAt(holder, container.steps);
  const [head, tail] = JSON.stringify(holder).split(`"${hole}"`) as [string, string];
  const entries: string[] = [];
  let values = valuesOf(head) + valuesOf(tail);
  for (let size = head.length + tail.length + 2, index = 0; ; index++) {
    const value = entryOf(container, style, index, like);
    const entry = container.form === 'map' ? `${JSON.stringify(keyOf(style, index))}:${value}` : value;
    size += Buffer.byteLength(entry) + 1;
    values += valuesOf(value);
    if (size > bytes || values > valuesBound()) break;
    entries.push(entry);
  }
  if (isReversed) entries.reverse();
  const [open, close] = container.form === 'map' ? '{}' : '[]';
  return { text: `${head}${open}${entries.join(',')}${close}${tail}`, entries: entries.length };
}

/** Puts `value` at the path, creating missing objects; returns an entry that was there before. */
function putAt(object: JsonObject, steps: readonly (string | 0)[], value: Json = hole): Json | undefined {
  let at: Json = object;
  for (let index = 0; index < steps.length - 1; index++) {
    const holder = at as JsonObject;
    const step = steps[index]!;
    const made: Json = steps[index + 1] === 0 ? [] : {};
    const inside: Json | undefined = holder[step];
    if (typeof inside !== 'object' || inside === null) holder[step] = made;
    at = holder[step]!;
  }
  const last = steps.at(-1)!;
  const before = (at as JsonObject)[last];
  (at as JsonObject)[last] = value;
  if (Array.isArray(before)) return before[0];
  return typeof before === 'object' && before !== null ? Object.values(before)[0] : undefined;
}
