import type { FieldError } from '../../../machinery/field-error.js';
import type { Alternatives, SchemaNode } from './schema-node.js';
import type { ValueWalk } from './value-walk.js';

export interface Outcome {
  /** Empty where mistakes were only counted. */
  readonly errors: readonly FieldError[];
  readonly found: number;
  readonly matches: number;
}

/**
 * Schemas of which a value must meet any, one, all or none. What is wrong is told of the whole object, and then of the
 * alternative that the value nearly meets.
 */
export function validateAlternatives({ all, any, one, not }: Alternatives, meet: Meet, walk: ValueWalk): void {
  if (any.length > 0) validateAny(any, meet, walk);
  if (one.length > 0 && !walk.isFull) validateOne(one, meet, walk);
  if (all.length > 0 && !walk.isFull) validateAll(all, meet, walk);
  if (not && !walk.isFull && isMet(meet(not, true))) {
    walk.invalidAsWhole(() => `"${walk.name}" must not validate the schema (not)`);
  }
}

/** Looks at the value with another schema, and only counts its mistakes or writes them down as well. */
export type Meet = (node: SchemaNode, isCounting: boolean) => Outcome;

const isMet = ({ found }: Outcome): boolean => found === 0;

/** Tells the mistakes that one alternative finds: only now are they written down. */
function tellOutcome(node: SchemaNode, counted: Outcome, meet: Meet, walk: ValueWalk): void {
  const { errors, found, matches } = isMet(counted) || walk.isCounting ? counted : meet(node, false);
  if (walk.isCounting) walk.found += found;
  else for (const error of errors) walk.tell(() => error);
  walk.matches += matches;
}

function validateAll(nodes: readonly SchemaNode[], meet: Meet, walk: ValueWalk): void {
  let met = 0;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = meet(node, true);
    if (isMet(outcome)) met++;
    tellOutcome(node, outcome, meet, walk);
  }
  if (met === nodes.length) return;
  walk.invalidAsWhole(
    () => `"${walk.name}" must validate all the schemas (allOf)${met === 0 ? '. None validated' : ''}`,
  );
}

function validateAny(nodes: readonly SchemaNode[], meet: Meet, walk: ValueWalk): void {
  let best: Candidate | undefined;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = meet(node, true);
    if (isMet(outcome)) {
      walk.matches += outcome.matches;
      return;
    }
    if (!best || outcome.matches > best.outcome.matches) best = { node, outcome };
  }
  walk.invalidAsWhole(() => `"${walk.name}" must validate at least one schema (anyOf)`);
  tellOutcome(best!.node, best!.outcome, meet, walk);
}

interface Candidate {
  readonly node: SchemaNode;
  readonly outcome: Outcome;
}

function validateOne(nodes: readonly SchemaNode[], meet: Meet, walk: ValueWalk): void {
  let best: Candidate | undefined;
  let met = 0;
  let matches = 0;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = meet(node, true);
    if (isMet(outcome)) {
      met++;
      matches = outcome.matches;
    }
    if (!best || outcome.matches > best.outcome.matches) best = { node, outcome };
  }
  if (met === 1) {
    walk.matches += matches;
    return;
  }
  const found = met === 0 ? 'Found none valid' : `Found ${met} valid alternatives`;
  walk.invalidAsWhole(() => `"${walk.name}" must validate one and only one schema (oneOf). ${found}`);
  if (met === 0) tellOutcome(best!.node, best!.outcome, meet, walk);
}
