import { isEmpty, isMember, leaf, self, type FieldSet, type OpenFieldSet } from './field-set.js';
import { fieldElement } from './path-element.js';

/** Paths of fields, with `*` for any path element. A pattern includes everything below its paths. */
export interface FieldPattern {
  readonly [step: string]: FieldPattern;
}

const any = '*';

// fieldPatternOf('spec/resources', 'spec/containers/*/resources')
export function fieldPatternOf(...paths: string[]): FieldPattern {
  const pattern: Record<string, FieldPattern> = {};
  for (const path of paths) {
    let node: Record<string, FieldPattern> = pattern;
    for (const step of path.split('/')) node = node[step === any ? any : fieldElement(step)] ??= {};
  }
  return pattern;
}

/** Returns the fields that the pattern includes, and the members above them. */
export function onlyMatching(fields: FieldSet, pattern: FieldPattern): FieldSet {
  const out: OpenFieldSet = {};
  for (const element in fields) {
    const below = pattern[any] ?? pattern[element];
    if (element === self || !below) continue;
    const node = isEmpty(below) ? fields[element]! : matchingNode(fields[element]!, below);
    if (node) out[element] = node;
  }
  return out;
}

function matchingNode(node: FieldSet, pattern: FieldPattern): FieldSet | undefined {
  const below = onlyMatching(node, pattern);
  if (isEmpty(below)) return isMember(node) ? leaf : undefined;
  return isMember(node) ? { [self]: leaf, ...below } : below;
}
