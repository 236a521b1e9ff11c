import type { ResourceAttributes } from '../../catalog/types/authorization.v1.js';
import { FieldSelector, fieldSelectorIfValid, parseFieldSelector } from '../../machinery/field-selector.js';
import { parseLabelSelector } from '../../machinery/label-selector-parser.js';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/**
 * Returns the problems of the selectors of a review, for status.evaluationError. An invalid selector is ignored: the
 * review is then about more objects, which never allows too much.
 */
export function selectorProblems({ fieldSelector, labelSelector }: ResourceAttributes = {}): string[] {
  return [
    ...problemsOf('spec.resourceAttributes.fieldSelector', fieldSelector, parseFieldSelector),
    ...problemsOf('spec.resourceAttributes.labelSelector', labelSelector, parseLabelSelector),
  ];
}

interface SelectorAttributes {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly { readonly operator?: string | undefined }[] | undefined;
}

function problemsOf(
  field: string,
  { rawSelector: raw = '', requirements = [] }: SelectorAttributes = {},
  parse: (text: string) => unknown,
): string[] {
  if (raw !== '') return isValid(raw, parse) ? [] : [`${field} ignored due to parse error`];
  return requirements.flatMap(({ operator = '' }, index) =>
    operators.includes(operator) ? [] : [`${field}.requirements[${index}]: "${operator}" is not a valid operator`],
  );
}

function isValid(text: string, parse: (text: string) => unknown): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the field selector of a review; undefined if it has none, or an invalid one. */
export function fieldSelectorOf({ fieldSelector }: ResourceAttributes = {}): FieldSelector | undefined {
  const { rawSelector: raw = '', requirements = [] } = fieldSelector ?? {};
  if (raw !== '') return fieldSelectorIfValid(raw);
  return new FieldSelector(
    requirements.flatMap(({ key = '', operator, values }) => {
      const [value, ...others] = values ?? [];
      if (value === undefined || others.length > 0 || (operator !== 'In' && operator !== 'NotIn')) return [];
      return [{ field: key, operator: operator === 'In' ? '=' : '!=', value }];
    }),
  );
}
