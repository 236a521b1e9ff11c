import type { FieldError } from '../machinery/field-error.js';
import type { Alternatives, SchemaNode } from './schema-node.js';
import type { ValueWalk } from './value-walk.js';

export interface Outcome {
  /** Empty if errors were only counted. */
  readonly errors: readonly FieldError[];
  readonly found: number;
  readonly matches: number;
}

/**
 * Validates allOf, anyOf, oneOf and not. Reports an error of the whole value, and then the errors of the alternative
 * that the value matches best.
 */
export function validateAlternatives(
  { all, any, one, not }: Alternatives,
  validateWith: ValidateWith,
  walk: ValueWalk,
): void {
  if (any.length > 0) validateAny(any, validateWith, walk);
  if (one.length > 0 && !walk.isFull) validateOne(one, validateWith, walk);
  if (all.length > 0 && !walk.isFull) validateAll(all, validateWith, walk);
  if (not && !walk.isFull && isMet(validateWith(not, true))) {
    walk.invalidAsWhole(() => `"${walk.name}" must not validate the schema (not)`);
  }
}

/** Validates the value with another schema; with `isCounting`, errors are counted and not built. */
export type ValidateWith = (node: SchemaNode, isCounting: boolean) => Outcome;

const isMet = ({ found }: Outcome): boolean => found === 0;

/** Reports the errors of one alternative. If they were only counted, validates again to build them. */
function reportOutcome(node: SchemaNode, counted: Outcome, validateWith: ValidateWith, walk: ValueWalk): void {
  const { errors, found, matches } = isMet(counted) || walk.isCounting ? counted : validateWith(node, false);
  if (walk.isCounting) walk.found += found;
  else for (const error of errors) walk.report(() => error);
  walk.matches += matches;
}

function validateAll(nodes: readonly SchemaNode[], validateWith: ValidateWith, walk: ValueWalk): void {
  let met = 0;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = validateWith(node, true);
    if (isMet(outcome)) met++;
    reportOutcome(node, outcome, validateWith, walk);
  }
  if (met === nodes.length) return;
  walk.invalidAsWhole(
    () => `"${walk.name}" must validate all the schemas (allOf)${met === 0 ? '. None validated' : ''}`,
  );
}

function validateAny(nodes: readonly SchemaNode[], validateWith: ValidateWith, walk: ValueWalk): void {
  let best: Candidate | undefined;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = validateWith(node, true);
    if (isMet(outcome)) {
      walk.matches += outcome.matches;
      return;
    }
    if (!best || outcome.matches > best.outcome.matches) best = { node, outcome };
  }
  walk.invalidAsWhole(() => `"${walk.name}" must validate at least one schema (anyOf)`);
  reportOutcome(best!.node, best!.outcome, validateWith, walk);
}

interface Candidate {
  readonly node: SchemaNode;
  readonly outcome: Outcome;
}

function validateOne(nodes: readonly SchemaNode[], validateWith: ValidateWith, walk: ValueWalk): void {
  let best: Candidate | undefined;
  let met = 0;
  let matches = 0;
  for (const node of nodes) {
    if (walk.isExhausted) return;
    const outcome = validateWith(node, true);
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
  if (met === 0) reportOutcome(best!.node, best!.outcome, validateWith, walk);
}
