import { labelSelectorOf } from '../../machinery/label-selector.js';

/** A LabelSelector as the text that kubectl shows and scale subresources carry: `app=a,tier in (b,c)`. */
export function selectorText(selector: unknown): string {
  if (typeof selector !== 'object' || selector === null) return '';
  try {
    return labelSelectorOf(selector).toString();
  } catch {
    return '<error>';
  }
}
