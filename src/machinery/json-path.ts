import { compare } from './json-path-compare.js';
import { parseSteps } from './json-path-parser.js';
import type { Step, Steps } from './json-path-steps.js';

/**
 * A parsed JSONPath: `.status.conditions[?(@.type=="Ready")].status`, as used by printer columns, selectable fields and
 * scale paths of CustomResourceDefinitions.
 */
export interface JsonPath {
  /** Returns all values found, in order; none if the path does not fit the object. */
  readonly find: (data: unknown) => readonly unknown[];
}

/**
 * Limit of visited values. Most steps visit each part of an object once, but `..` revisits nested values and unions may
 * find values repeatedly. Pages of objects are evaluated at a time, so this is a few milliseconds per object.
 */
const visitsMax = 200_000;

/** Returns undefined if the text is not a path. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = parseSteps(text);
  return steps && { find: (data) => new Walk().along(steps, [data]) ?? [] };
}

type Values = readonly unknown[];
/** Undefined ends the evaluation: a path that does not fit one of the values finds nothing. */
type Found = Values | undefined;

class Walk {
  private visits = 0;

  along(steps: Steps, values: Values): Found {
    let found: Found = values;
    for (const step of steps) {
      if (found === undefined || found.length === 0) return found;
      found = this.take(step, found);
    }
    return found;
  }

  private take(step: Step, values: Values): Found {
    if (!this.mayVisit(values.length)) return undefined;
    switch (step.step) {
      case 'field':
        return fieldsOf(values, step.name);
      case 'wildcard':
        return this.gathered(values, childrenOf);
      case 'recursive':
        return this.allWithin(values);
      case 'item':
      case 'slice':
        return this.sliced(values, step);
      case 'union':
        return this.gathered(step.of, (steps) => this.along(steps, values));
      case 'exists':
        return this.filtered(values, (item) => (this.along(step.path, [item]) ?? []).length > 0);
      case 'filter':
        return this.filtered(values, (item) => this.passes(step, item));
      case 'literal':
        return values.map(() => step.value);
      case 'unknown':
        return undefined;
    }
  }

  private mayVisit(count: number): boolean {
    this.visits += count;
    return this.visits <= visitsMax;
  }

  /** Concatenates what `findIn` finds. Found values count as visited, so that they cannot grow without limit. */
  private gathered<From>(from: readonly From[], findIn: (one: From) => Found): Found {
    const found: unknown[] = [];
    for (const one of from) {
      const part = findIn(one);
      if (!part || !this.mayVisit(part.length)) return undefined;
      for (const value of part) found.push(value);
    }
    return found;
  }

  /** Indexes outside of a list, and values that are not lists, do not fit. */
  private sliced(values: Values, step: Step & { step: 'item' | 'slice' }): Found {
    const found: unknown[] = [];
    for (const list of values) {
      if (list === null) continue;
      if (!Array.isArray(list)) return undefined;
      const [from, to] = rangeOf(list.length, step);
      if (from === to) return found;
      if (from < 0 || from >= list.length || to > list.length || to < from) return undefined;
      const every = step.step === 'slice' ? step.every : 1;
      if (every <= 0) return undefined;
      if (!this.mayVisit((to - from) / every)) return undefined;
      for (let index = from; index < to; index += every) found.push((list as unknown[])[index]);
    }
    return found;
  }

  /** Returns all values with children, outer ones first. */
  private allWithin(values: Values): Found {
    const found: unknown[] = [];
    const pending = [...values].reverse();
    while (pending.length > 0) {
      if (!this.mayVisit(1)) return undefined;
      const value = pending.pop();
      const children = childrenOf(value);
      if (children.length === 0) continue;
      found.push(value);
      for (let index = children.length - 1; index >= 0; index--) pending.push(children[index]);
    }
    return found;
  }

  private filtered(values: Values, passes: (item: unknown) => boolean | undefined): Found {
    const found: unknown[] = [];
    for (const list of values) {
      if (!Array.isArray(list) || !this.mayVisit(list.length)) return undefined;
      for (const item of list as unknown[]) {
        const passed = passes(item);
        if (passed === undefined) return undefined;
        if (passed) found.push(item);
      }
    }
    return found;
  }

  /** An item without a value to compare does not pass; an item with several does not fit. */
  private passes(step: Step & { step: 'filter' }, item: unknown): boolean | undefined {
    const left = this.along(step.left, [item]);
    const right = left?.length === 0 ? [] : this.along(step.right, [item]);
    if (!left || !right || left.length > 1 || right.length > 1) return undefined;
    return left.length === 1 && right.length === 1 ? compare(left[0], step.operator, right[0]) : false;
  }
}

/** A single list for all values, which is faster than one per value. */
function fieldsOf(values: Values, name: string): unknown[] {
  const found: unknown[] = [];
  for (const value of values) if (hasField(value, name)) found.push(value[name]);
  return found;
}

function hasField(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name);
}

function childrenOf(value: unknown): Values {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? (value as unknown[]) : Object.values(value);
}

/** Negative positions count from the end. */
function rangeOf(length: number, step: Step & { step: 'item' | 'slice' }): readonly [from: number, to: number] {
  const positionOf = (position: number) => (position < 0 ? position + length : position);
  if (step.step === 'item') return [positionOf(step.index), positionOf(step.index) + 1];
  return [positionOf(step.from), step.to === undefined ? length : positionOf(step.to)];
}
