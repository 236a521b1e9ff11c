import { h } from '../ui/dom.js';

/** Stands in for a view of the whole server in a session of a logical cluster, which does not have its data. */
export function rootOnly(text) {
  const element = h('section', { class: 'page' }, h('p', { class: 'notice' }, text));
  return { element, stop: () => undefined };
}
