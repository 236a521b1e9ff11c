import { compareUtf8 } from '../../std/compare-utf8.js';
import {
  compareRead,
  elementText,
  fieldElement,
  readElement,
  type PathElement,
  type ReadElement,
} from './path-element.js';
import type { Schema } from './schema.js';

/**
 * A set of fields as it is stored (fieldsV1). Set operations work on that representation, so reading and writing cost
 * nothing, and results share subtrees with the arguments.
 *
 *   { 'f:spec': { 'f:replicas': {}, 'f:template': { '.': {}, 'f:spec': {} } } }
 *
 * contains spec.replicas, spec.template and spec.template.spec: an empty object is a member, and so is an object with a
 * `.` in it. The root is never a member; `{}` is the empty set. Functions do not change their arguments. Elements keep
 * the order of the first argument; new ones are inserted in sorted order.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}
export type OpenFieldSet = { [element: PathElement]: FieldSet };

export const self = '.';
/** A member without descendants. */
export const leaf: FieldSet = Object.freeze({});
export const noFields: FieldSet = leaf;

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

export function isMember(node: FieldSet): boolean {
  return node[self] !== undefined || isEmpty(node);
}

/** Builds a set from paths: `fieldSetOf('status', 'metadata/name')`. */
export function fieldSetOf(...paths: string[]): FieldSet {
  return paths.map((path) => setOfPath(path.split('/').map(fieldElement))).reduce(union, noFields);
}

export function setOfPath(path: readonly PathElement[]): FieldSet {
  return path.reduceRight<FieldSet>((below, element) => ({ [element]: below }), leaf);
}

/** Members of either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  return isEmpty(a) ? b : unionBelow(a, b, false);
}

/** Union of many sets; visits each element O(log n) times. */
export function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  let left = sets;
  while (left.length > 1) {
    const half: FieldSet[] = [];
    for (let at = 0; at < left.length; at += 2)
      half.push(at + 1 < left.length ? union(left[at]!, left[at + 1]!) : left[at]!);
    left = half;
  }
  return left[0] ?? noFields;
}

/** Union of the nodes of one path element. */
export function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  return unionBelow(a, b, isMember(a) || isMember(b));
}

function unionBelow(a: FieldSet, b: FieldSet, joins: boolean): FieldSet {
  const out: OpenFieldSet = {};
  let added: PathElement[] | undefined;
  let changed = false;
  for (const element in b) {
    if (element !== self && a[element] === undefined) (added ??= []).push(element);
  }
  if (joins) {
    changed = !isMember(a);
    if (added || hasBelow(a)) out[self] = leaf;
  }
  const order = added ? merged(Object.keys(a), added) : Object.keys(a);
  for (const element of order) {
    if (element === self) continue;
    const left = a[element];
    const right = b[element];
    if (left === undefined) out[element] = right!;
    else if (right === undefined) out[element] = left;
    else if ((out[element] = unionOfNodes(left, right)) !== left) changed = true;
  }
  return changed || added ? out : a;
}

function hasBelow(node: FieldSet): boolean {
  for (const element in node) if (element !== self) return true;
  return false;
}

/** Merges two lists of elements, keeping the order of each where the elements' order does not decide. */
function merged(a: readonly PathElement[], b: readonly PathElement[]): PathElement[] {
  const rest = b.map(readElement).sort(compareRead);
  const out: PathElement[] = [];
  let next = 0;
  for (const element of a) {
    if (element !== self && next < rest.length) {
      const read = readElement(element);
      while (next < rest.length && compareRead(rest[next]!, read) < 0) out.push(rest[next++]!.element);
    }
    out.push(element);
  }
  return out.concat(rest.slice(next).map(({ element }) => element));
}

/** Members of both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  return intersectionBelow(a, b, false) ?? noFields;
}

function intersectionBelow(a: FieldSet, b: FieldSet, joins: boolean): FieldSet | undefined {
  let out: OpenFieldSet | undefined;
  for (const element in a) {
    const left = a[element]!;
    const right = b[element];
    if (element === self || right === undefined) continue;
    const both = intersectionBelow(left, right, isMember(left) && isMember(right));
    if (both) (out ??= joins ? { [self]: leaf } : {})[element] = both;
  }
  return out ?? (joins ? leaf : undefined);
}

/** Members of `a` that are not in `b`. Descendants of a member of `b` stay unless they are in `b` too. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false, false) ?? noFields;
}

/** Members of `a` that are neither in `b` nor below a member of `b`. */
export function differenceWithBelow(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true, false) ?? noFields;
}

function subtract(a: FieldSet, b: FieldSet, takesBelow: boolean, keepsSelf: boolean): FieldSet | undefined {
  if (!sharesElement(a, b)) return keepsSelf === isMember(a) ? a : withSelf(a, keepsSelf);
  let out: OpenFieldSet | undefined;
  let changed = keepsSelf !== isMember(a);
  for (const element in a) {
    if (element === self) continue;
    const left = a[element]!;
    const right = b[element];
    let rest: FieldSet | undefined = left;
    if (right !== undefined) {
      const isTaken = isMember(right);
      rest = isTaken && takesBelow ? undefined : subtract(left, right, takesBelow, isMember(left) && !isTaken);
      if (rest !== left) changed = true;
    }
    if (rest) (out ??= keepsSelf ? { [self]: leaf } : {})[element] = rest;
  }
  if (!out) return keepsSelf ? leaf : undefined;
  return changed ? out : a;
}

/** Iterates `a`: it is the small set if many owners lose fields to one large change. */
function sharesElement(a: FieldSet, b: FieldSet): boolean {
  for (const element in a) if (element !== self && b[element] !== undefined) return true;
  return false;
}

function withSelf(node: FieldSet, isThere: boolean): FieldSet | undefined {
  const out: OpenFieldSet = isThere ? { [self]: leaf } : {};
  if (!hasBelow(node)) return isThere ? leaf : undefined;
  for (const element in node) if (element !== self) out[element] = node[element]!;
  return out;
}

/** Adds every struct field that contains a member of the set. */
export function withNamedFields(set: FieldSet, schema: Schema | undefined): FieldSet {
  const out: OpenFieldSet = {};
  for (const element in set) {
    const node = set[element]!;
    if (element === self || isEmpty(node)) {
      out[element] = node;
      continue;
    }
    const field = schema?.map?.byElement.get(element);
    const below = withNamedFields(node, field?.schema ?? schemaBelow(schema, element));
    out[element] = field && node[self] === undefined ? { [self]: leaf, ...below } : below;
  }
  return out;
}

export function schemaBelow(schema: Schema | undefined, element: PathElement): Schema | undefined {
  if (element.startsWith('f:')) return schema?.map && (schema.map.byElement.get(element)?.schema ?? schema.map.values);
  return element.startsWith('k:') ? schema?.list?.of : undefined;
}

/** Yields every member: those of a level before those below. */
export function* pathsOf(set: FieldSet, above: readonly PathElement[] = []): Generator<readonly PathElement[]> {
  for (const element in set) {
    if (element !== self && isMember(set[element]!)) yield [...above, element];
  }
  for (const element in set) {
    if (element !== self && !isEmpty(set[element]!)) yield* pathsOf(set[element]!, [...above, element]);
  }
}

/** The number of members. */
export function countMembers(set: FieldSet): number {
  let count = 0;
  for (const element in set) {
    if (element === self) continue;
    const node = set[element]!;
    if (isMember(node)) count++;
    count += countMembers(node);
  }
  return count;
}

export function pathText(path: readonly PathElement[]): string {
  return path.map(elementText).join('');
}

/** Sorts the elements of the top level. */
export function sorted<Set extends FieldSet>(set: Set): Set {
  let before: PathElement | undefined;
  let beforeRead: ReadElement | undefined;
  for (const element in set) {
    if (element === self) continue;
    if (before !== undefined) {
      if (before[0] === 'f' && element[0] === 'f') {
        if (compareUtf8(before, element) > 0) return inOrder(set) as Set;
        beforeRead = undefined;
      } else {
        const read = readElement(element);
        if (compareRead(beforeRead ?? readElement(before), read) > 0) return inOrder(set) as Set;
        beforeRead = read;
      }
    }
    before = element;
  }
  return set;
}

const elementOf = ({ element }: ReadElement): PathElement => element;

function inOrder(set: FieldSet): FieldSet {
  const out: OpenFieldSet = {};
  if (set[self]) out[self] = leaf;
  const elements = Object.keys(set).filter((element) => element !== self);
  // Fields are in the order of their texts, and need not be read.
  const areFields = elements.every((element) => element[0] === 'f');
  const ordered = areFields ? elements.sort(compareUtf8) : elements.map(readElement).sort(compareRead).map(elementOf);
  for (const element of ordered) out[element] = set[element]!;
  return out;
}

/** Sorts the elements of all levels, as stored. */
export function sortedThroughout(set: FieldSet): FieldSet {
  let out: OpenFieldSet | undefined;
  for (const element in set) {
    const node = set[element]!;
    const below = isEmpty(node) ? node : sortedThroughout(node);
    if (below !== node) (out ??= { ...set })[element] = below;
  }
  return sorted(out ?? set);
}
