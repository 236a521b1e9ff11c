import { labelSelectorOf } from '../../machinery/label-selector-object.js';

/** Formats a LabelSelector, for tables and the status of a Scale: `app=a,tier in (b,c)`. */
export function selectorText(selector: unknown): string {
  if (typeof selector !== 'object' || selector === null) return '';
  try {
    return labelSelectorOf(selector).toString();
  } catch {
    return '<error>';
  }
}
