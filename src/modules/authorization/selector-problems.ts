import { parseFieldSelector } from '../../machinery/field-selector.js';
import { asFields, asText, asItems } from '../../machinery/fields.js';
import { parseLabelSelector } from '../../machinery/label-selector.js';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/**
 * Selectors in a review only narrow what is asked. One that cannot be read is left out, which asks for more than was
 * meant and so never allows too much; the asker is told.
 */
export function selectorProblems(resourceAttributes: unknown): string[] {
  const { fieldSelector, labelSelector } = asFields(resourceAttributes);
  return [
    ...problemsOf('spec.resourceAttributes.fieldSelector', fieldSelector, parseFieldSelector),
    ...problemsOf('spec.resourceAttributes.labelSelector', labelSelector, parseLabelSelector),
  ];
}

function problemsOf(field: string, selector: unknown, parse: (text: string) => unknown): string[] {
  const { rawSelector, requirements } = asFields(selector);
  const raw = asText(rawSelector);
  if (raw !== '') return isReadable(raw, parse) ? [] : [`${field} ignored due to parse error`];
  return asItems(requirements).flatMap((requirement, index) => {
    const operator = asText(requirement['operator']);
    return operators.includes(operator)
      ? []
      : [`${field}.requirements[${index}]: "${operator}" is not a valid operator`];
  });
}

function isReadable(text: string, parse: (text: string) => unknown): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
