import { pathOf } from '../api/discovery.js';
import { printJson } from '../api/json.js';
import { formats } from '../model/editable-text.js';
import { yamlLines, yamlText } from '../model/yaml-lines.js';
import { h } from '../ui/dom.js';
import { paneHead } from '../ui/pane-head.js';
import { objectEditor } from './edit-tab.js';

/** Returns the element of a pane that creates an object of a kind, in the namespace of the list or `default`. */
export function createPane({ connection, session }, { kind, namespace }, close) {
  const place = kind.isNamespaced ? namespace || 'default' : '';
  const template = {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name: '', ...(place !== '' && { namespace: place }) },
  };
  const editor = objectEditor({
    connection,
    drafts: session.drafts,
    method: 'POST',
    path: pathOf(kind, place),
    read: async (format) => (format === formats.json ? printJson(template, 2) : `${yamlText(yamlLines(template))}\n`),
  });
  return h(
    'div',
    { class: 'detail' },
    paneHead({ kind, title: 'New object', note: place, closeLabel: 'Close the editor', close }),
    h('div', { class: 'detail-body' }, editor.element),
  );
}
