import { managersOf, ownedSets } from '../model/field-owners.js';
import { inSlices } from '../model/slices.js';
import { yamlLineSteps, yamlText } from '../model/yaml-lines.js';
import { fill, h } from '../ui/dom.js';
import { age } from '../ui/time.js';
import { VirtualList } from '../ui/virtual-list.js';

const colours = 8;
const indentMax = 200;
const charactersMax = 1_000;

/** The object as YAML; colours show which manager owns each field, by metadata.managedFields. */
export function fieldsTab(detail) {
  let lines = [];
  let managers = [];
  let highlighted;
  let abort = new AbortController();
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
  const update = async (object) => {
    abort.abort();
    abort = new AbortController();
    const writers = managersOf(object);
    const steps = yamlLineSteps(withoutManagedFields(object), ownedSets(writers));
    const printed = await inSlices(steps, abort.signal);
    if (printed === undefined) return;
    managers = writers;
    lines = printed;
    drawLegend();
    redraw();
  };
  void update(detail.object);
  const copy = h(
    'button',
    { type: 'button', class: 'button small', onclick: () => void navigator.clipboard?.writeText(yamlText(lines)) },
    'Copy YAML',
  );
  list.element.classList.add('code');
  return {
    element: h('div', { class: 'column' }, h('div', { class: 'toolbar' }, legend, copy), list.element, current),
    update,
    stop: () => {
      abort.abort();
      list.stop();
    },
  };
}

export function withoutManagedFields(object) {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

const moreCharacters = (text) => `${(text.length - charactersMax).toLocaleString()} more characters`;

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
      ' '.repeat(Math.min(indent, indentMax)),
      key === '' ? null : h('span', { class: 'code-key' }, key),
      key === '' || text === '' ? null : ' ',
      h('span', { class: `code-${type}` }, text.slice(0, charactersMax)),
      text.length > charactersMax ? h('span', { class: 'muted' }, ` ⋯ ${moreCharacters(text)}`) : null,
    ),
  );
}
