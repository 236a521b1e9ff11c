import type { FieldError } from '../../../machinery/field-error.js';
import type { Alternatives, SchemaNode } from './schema-node.js';
import type { ValueWalk } from './value-walk.js';

export interface Outcome {
  readonly errors: readonly FieldError[];
  readonly matches: number;
}

/**
 * Schemas of which a value must meet any, one, all or none. What is wrong is told of the whole object, and then of the
 * alternative that the value nearly meets.
 */
export function validateAlternatives({ all, any, one, not }: Alternatives, meet: Meet, walk: ValueWalk): void {
  const tell = ({ errors, matches }: Outcome) => {
    for (const error of errors) walk.tell(error);
    walk.matches += matches;
  };
  if (any.length > 0) validateAny(any, meet, tell, walk);
  if (one.length > 0) validateOne(one, meet, tell, walk);
  if (all.length > 0) {
    const outcomes = all.map(meet);
    const met = outcomes.filter(isMet).length;
    outcomes.forEach(tell);
    if (met < all.length) {
      walk.invalidAsWhole(`"${walk.name}" must validate all the schemas (allOf)${met === 0 ? '. None validated' : ''}`);
    }
  }
  if (not && isMet(meet(not))) walk.invalidAsWhole(`"${walk.name}" must not validate the schema (not)`);
}

/** Looks at the value with another schema. */
type Meet = (node: SchemaNode) => Outcome;
type Tell = (outcome: Outcome) => void;

const isMet = ({ errors }: Outcome): boolean => errors.length === 0;

function validateAny(nodes: readonly SchemaNode[], meet: Meet, tell: Tell, walk: ValueWalk): void {
  let best: Outcome | undefined;
  for (const node of nodes) {
    const outcome = meet(node);
    if (isMet(outcome)) {
      tell(outcome);
      return;
    }
    if (!best || outcome.matches > best.matches) best = outcome;
  }
  walk.invalidAsWhole(`"${walk.name}" must validate at least one schema (anyOf)`);
  tell(best!);
}

function validateOne(nodes: readonly SchemaNode[], meet: Meet, tell: Tell, walk: ValueWalk): void {
  const outcomes = nodes.map(meet);
  const met = outcomes.filter(isMet);
  if (met.length === 1) {
    tell(met[0]!);
    return;
  }
  const found = met.length === 0 ? 'Found none valid' : `Found ${met.length} valid alternatives`;
  walk.invalidAsWhole(`"${walk.name}" must validate one and only one schema (oneOf). ${found}`);
  if (met.length === 0) tell(outcomes.reduce((best, outcome) => (outcome.matches > best.matches ? outcome : best)));
}
