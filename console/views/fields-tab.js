import { managersOf, ownedSets } from '../model/field-owners.js';
import { yamlLines, yamlText } from '../model/yaml-lines.js';
import { fill, h } from '../ui/dom.js';
import { age } from '../ui/time.js';
import { VirtualList } from '../ui/virtual-list.js';

const colours = 8;

/** The object as YAML; colours show which manager owns each field, by metadata.managedFields. */
export function fieldsTab(detail) {
  let lines = [];
  let managers = [];
  let highlighted;
  const legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Field owners' });
  const current = h('p', { class: 'hint owner-hint', 'aria-live': 'polite' });
  const list = new VirtualList({
    label: 'Fields of the object',
    rowHeight: 20,
    draw: (element, index) => drawLine(element, lines[index], highlighted),
    activeChanged: (index) => {
      const names = (lines[index]?.owners ?? []).map((one) => managers[one]?.label);
      current.textContent = names.length > 0 ? `Owned by ${names.join(', ')}` : 'No manager owns this line.';
    },
  });
  const drawLegend = () =>
    fill(
      legend,
      managers.map(({ index, label, time }) =>
        h(
          'button',
          {
            type: 'button',
            class: `owner-button owner-${index % colours}`,
            'aria-pressed': String(highlighted === index),
            title: time,
            onclick: () => {
              highlighted = highlighted === index ? undefined : index;
              drawLegend();
              redraw();
            },
          },
          h('span', { class: 'swatch', 'aria-hidden': 'true' }),
          label,
          time === '' ? null : h('span', { class: 'muted' }, ` ${age(time)}`),
        ),
      ),
      managers.length === 0 ? h('span', { class: 'muted' }, 'This object has no managedFields.') : null,
    );
  const redraw = () => {
    for (const element of list.element.querySelectorAll('.virtual-row')) element.drawn = undefined;
    list.setCount(lines.length);
  };
  const update = (object) => {
    managers = managersOf(object);
    lines = yamlLines(withoutManagedFields(object), ownedSets(managers));
    drawLegend();
    redraw();
  };
  update(detail.object);
  const copy = h(
    'button',
    { type: 'button', class: 'button small', onclick: () => void navigator.clipboard?.writeText(yamlText(lines)) },
    'Copy YAML',
  );
  list.element.classList.add('code');
  return {
    element: h('div', { class: 'column' }, h('div', { class: 'toolbar' }, legend, copy), list.element, current),
    update,
    stop: () => list.stop(),
  };
}

export function withoutManagedFields(object) {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

function drawLine(element, line, highlighted) {
  if (!line || element.drawn === line) return;
  element.drawn = line;
  const { indent, key, text, type, owners } = line;
  const shown = owners.slice(0, 3);
  element.classList.toggle('is-dim', highlighted !== undefined && !owners.includes(highlighted));
  fill(
    element,
    h(
      'span',
      { class: 'owner-bars', role: 'presentation' },
      shown.map((owner) => h('span', { class: `owner-bar owner-${owner % colours}` })),
    ),
    h(
      'span',
      { class: 'code-text', role: 'gridcell' },
      ' '.repeat(indent),
      key === '' ? null : h('span', { class: 'code-key' }, key),
      key === '' || text === '' ? null : ' ',
      h('span', { class: `code-${type}` }, text),
    ),
  );
}
