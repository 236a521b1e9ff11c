import type { ResourceAttributes } from '../../catalog/types/authorization.v1.js';
import type { FieldSelectorRequirement } from '../../catalog/types/meta.v1.js';
import { FieldSelector, fieldSelectorIfValid } from '../../machinery/field-selector.js';
import { LabelSelector } from '../../machinery/label-selector.js';
import { labelRequirementOf } from '../../machinery/label-selector-object.js';
import { byKey, labelSelectorIfValid } from '../../machinery/label-selector-parser.js';

interface ReviewedSelectors {
  readonly fieldSelector: FieldSelector | undefined;
  readonly labelSelector: LabelSelector | undefined;
  /** Problems for status.evaluationError. */
  readonly problems: readonly string[];
}

/**
 * Returns the selectors of a validated review. Requirements with unknown operators are left out: the review is then
 * about more objects, which never allows too much.
 */
export function reviewedSelectors({ fieldSelector, labelSelector }: ResourceAttributes = {}): ReviewedSelectors {
  if (!fieldSelector && !labelSelector) return none;
  const fields = selected(fieldSelector, fieldSelectorIfValid, fieldRequirement, (all) => new FieldSelector(all));
  const labels = selected(
    labelSelector,
    labelSelectorIfValid,
    labelRequirementOf,
    (all) => new LabelSelector(all.sort(byKey)),
  );
  return {
    fieldSelector: fields.selector,
    labelSelector: labels.selector,
    problems: [
      ...problemOf('spec.resourceAttributes.fieldSelector', fields),
      ...problemOf('spec.resourceAttributes.labelSelector', labels),
    ],
  };
}

const none: ReviewedSelectors = { fieldSelector: undefined, labelSelector: undefined, problems: [] };

interface SelectorAttributes<Written> {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly Written[] | undefined;
}

interface Selected<Selector> {
  /** Undefined if the selector has no valid requirement. */
  readonly selector: Selector | undefined;
  readonly isComplete: boolean;
}

function selected<Written, Requirement, Selector extends { readonly isEmpty: boolean }>(
  { rawSelector: raw = '', requirements = [] }: SelectorAttributes<Written> = {},
  parse: (text: string) => Selector | undefined,
  requirementOf: (written: Written) => Requirement | undefined,
  selectorOf: (requirements: Requirement[]) => Selector,
): Selected<Selector> {
  if (raw !== '') {
    const parsed = parse(raw);
    return { selector: parsed?.isEmpty === false ? parsed : undefined, isComplete: parsed !== undefined };
  }
  const valid: Requirement[] = [];
  for (const written of requirements) {
    const requirement = requirementOf(written);
    if (requirement !== undefined) valid.push(requirement);
  }
  return {
    selector: valid.length > 0 ? selectorOf(valid) : undefined,
    isComplete: valid.length === requirements.length,
  };
}

function problemOf(field: string, { selector, isComplete }: Selected<unknown>): string[] {
  if (isComplete) return [];
  return [`${field} ${selector === undefined ? '' : 'partially '}ignored due to parse error`];
}

/** A field has one value, so only requirements with one value can be expressed. */
function fieldRequirement({ key = '', operator, values }: FieldSelectorRequirement) {
  const [value, ...others] = values ?? [];
  if (value === undefined || others.length > 0 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return { field: key, operator: operator === 'In' ? '=' : '!=', value } as const;
}
