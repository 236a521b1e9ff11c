import { pathOf } from '../api/discovery.js';
import { printJson } from '../api/json.js';
import { formats } from '../model/editable-text.js';
import { yamlLines, yamlText } from '../model/yaml-lines.js';
import { h } from '../ui/dom.js';
import { objectEditor } from './edit-tab.js';

/** Creates an object of a kind, in the namespace of the list or `default`. */
export function createPane({ connection }, { kind, namespace }, close) {
  const place = kind.isNamespaced ? namespace || 'default' : '';
  const template = {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name: '', ...(place !== '' && { namespace: place }) },
  };
  const editor = objectEditor({
    connection,
    method: 'POST',
    path: pathOf(kind, place),
    read: async (format) => (format === formats.json ? printJson(template, 2) : `${yamlText(yamlLines(template))}\n`),
  });
  return h(
    'div',
    { class: 'detail' },
    h(
      'div',
      { class: 'detail-head' },
      h(
        'div',
        { class: 'detail-title' },
        h('span', { class: 'badge' }, kind.kind),
        h('h2', {}, 'New object'),
        place === '' ? null : h('span', { class: 'muted' }, place),
      ),
      h('button', { type: 'button', class: 'icon-button', 'aria-label': 'Close the editor', onclick: close }, '✕'),
    ),
    h('div', { class: 'detail-body' }, editor.element),
  );
}
