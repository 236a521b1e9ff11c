import type { ResourceAttributes } from '../../catalog/types/authorization.v1.js';
import { parseFieldSelector } from '../../machinery/field-selector.js';
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
