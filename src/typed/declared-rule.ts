import { assert } from '../std/assert.js';

/**
 * A rule of declarative validation, declared on a type:
 *
 *   minimum=0
 *   alpha(since: "1.36")=+k8s:ifEnabled(HPAScaleToZero)=+k8s:minimum=0
 *   item(type: "Approved")=+k8s:zeroOrOneOfMember
 */
export interface DeclaredRule {
  readonly tag: string;
  /** `ifEnabled(Gate)` → `Gate` */
  readonly argument: string | undefined;
  /** `item(type: "Approved")` → type: Approved */
  readonly named: Readonly<Record<string, string>>;
  readonly value: string | undefined;
  /** The rule that this rule wraps. */
  readonly inner: DeclaredRule | undefined;
}

/** Rules that are not stable yet duplicate the handwritten validation that they will replace. */
export const stabilities = ['stable', 'beta', 'alpha'] as const;
export type Stability = (typeof stabilities)[number];

const prefix = '+k8s:';
const rulePattern = /^(?:\+k8s:)?([A-Za-z]+)(?:\(([^)]*)\))?(?:=(.*))?$/s;

export function parseRule(text: string): DeclaredRule {
  const found = rulePattern.exec(text);
  assert(found, `${text} is no rule`);
  const [, tag, inParentheses, value] = found;
  const isNested = value?.startsWith(prefix) ?? false;
  return {
    tag: tag!,
    ...argumentsOf(inParentheses),
    value: value === undefined || isNested ? undefined : unquoted(value),
    inner: isNested ? parseRule(value!) : undefined,
  };
}

/** Unwraps the stability of a rule. */
export function staged(rule: DeclaredRule): { readonly stability: Stability; readonly rule: DeclaredRule } {
  if ((rule.tag !== 'alpha' && rule.tag !== 'beta') || !rule.inner) return { stability: 'stable', rule };
  return { stability: rule.tag, rule: rule.inner };
}

function argumentsOf(text: string | undefined): Pick<DeclaredRule, 'argument' | 'named'> {
  if (text === undefined || !text.includes(':')) {
    return { argument: text === undefined ? undefined : unquoted(text.trim()), named: {} };
  }
  const named = text.split(',').map((pair): [string, string] => {
    const at = pair.indexOf(':');
    return [pair.slice(0, at).trim(), unquoted(pair.slice(at + 1).trim())];
  });
  return { argument: undefined, named: Object.fromEntries(named) };
}

function unquoted(text: string): string {
  return /^(["`]).*\1$/s.test(text) ? text.slice(1, -1) : text;
}
