import { parseInt64 } from './int64-text.js';
import { listedMax, RequirementsByKey } from './requirements-by-key.js';

/**
 * `app=web, tier in (a,b), !canary, weight>3`: requirements that labels must all meet. A missing label meets `!=` and
 * `notin`. Syntax errors throw a BadRequest with the text of kube-apiserver.
 */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted and distinct; empty for `exists` and `!`. */
  readonly values: readonly string[];
}

interface LabelEquality {
  readonly label: string;
  readonly value: string;
}

export type Labels = Readonly<Record<string, string>>;

export class LabelSelector {
  readonly isEmpty: boolean;
  /** Labels that must have one value, for indexes. */
  readonly equalities: readonly LabelEquality[];
  private readonly isLong: boolean;
  private byKey: RequirementsByKey | undefined = undefined;
  constructor(
    readonly requirements: readonly LabelRequirement[],
    /** True for a selector that matches no object, like an absent LabelSelector. */
    readonly matchesNothing = false,
  ) {
    this.isEmpty = !matchesNothing && requirements.length === 0;
    this.equalities = requirements.filter(isEquality).map(({ key, values }) => ({ label: key, value: values[0]! }));
    this.isLong = requirements.length > listedMax || requirements.some(({ values }) => values.length > listedMax);
  }

  matches(labels: Labels | undefined): boolean {
    if (this.matchesNothing) return false;
    // Grouped on first use, since some selectors are only inspected.
    if (this.isLong) return (this.byKey ??= new RequirementsByKey(this.requirements)).areMet(labels);
    for (const requirement of this.requirements) {
      if (!isMet(requirement, labels)) return false;
    }
    return true;
  }

  /** Returns the only value that the label may have; undefined if several or none match. For indexes. */
  requiresExact(key: string): string | undefined {
    return this.equalities.find(({ label }) => label === key)?.value;
  }

  /** Returns the canonical text: sorted by key, without insignificant spaces. */
  toString(): string {
    return this.requirements.map(requirementText).join(',');
  }
}

export const everyLabel = new LabelSelector([]);

export const noLabel = new LabelSelector([], true);

function isEquality({ operator, values }: LabelRequirement): boolean {
  return values.length === 1 && (operator === '=' || operator === '==' || operator === 'in');
}

function isMet({ key, operator, values }: LabelRequirement, labels: Labels | undefined): boolean {
  const found: unknown = labels?.[key];
  // Inherited properties (`constructor`, `__proto__`) are not strings, hence not labels.
  const value = typeof found === 'string' ? found : undefined;
  switch (operator) {
    case '=':
    case '==':
      return value === values[0];
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      const number = value === undefined ? undefined : parseInt64(value);
      const bound = parseInt64(values[0]!);
      if (number === undefined || bound === undefined) return false;
      return operator === 'gt' ? number > bound : number < bound;
    }
  }
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}
