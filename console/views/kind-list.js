import { announce, fill, h } from '../ui/dom.js';

/** The kinds that can be listed, by group, with a filter. One of them is in the tab order; arrow keys reach the others. */
export function kindList(kinds, { open, readAgain }) {
  const listableOf = (all) => all.filter(({ verbs }) => verbs.has('list'));
  let listable = listableOf(kinds);
  let selected;
  const box = h('input', {
    type: 'search',
    class: 'kind-filter',
    placeholder: 'Filter kinds',
    'aria-label': 'Filter kinds',
    oninput: () => draw(),
    onkeydown: (event) => {
      if (event.key === 'ArrowDown') focusOn(0, event);
      else if (event.key === 'Enter') list.querySelector('button')?.click();
    },
  });
  const list = h('div', { class: 'kinds' });
  const buttons = () => [...list.querySelectorAll('button')];
  const focusOn = (index, event) => {
    const all = buttons();
    const button = all[Math.max(0, Math.min(index, all.length - 1))];
    if (!button) return;
    event.preventDefault();
    for (const one of all) one.tabIndex = one === button ? 0 : -1;
    button.focus();
  };
  const pressed = (event) => {
    const at = buttons().indexOf(event.target);
    if (event.key === 'ArrowDown') focusOn(at + 1, event);
    else if (event.key === 'ArrowUp' && at === 0) box.focus();
    else if (event.key === 'ArrowUp') focusOn(at - 1, event);
    else if (event.key === 'Home') focusOn(0, event);
    else if (event.key === 'End') focusOn(Infinity, event);
  };
  const draw = () => {
    const text = box.value.trim().toLowerCase();
    const shown = listable.filter(({ kind, plural, group }) =>
      `${kind} ${plural}.${group}`.toLowerCase().includes(text),
    );
    const groups = Map.groupBy(shown, ({ group }) => group);
    fill(
      list,
      [...groups].map(([group, members]) =>
        h(
          'div',
          { class: 'kind-group', role: 'group', 'aria-label': group || 'core' },
          h('div', { class: 'kind-group-name', title: group || 'core' }, group || 'core'),
          members.map((kind) =>
            h(
              'button',
              {
                type: 'button',
                class: 'kind',
                tabindex: '-1',
                title: `${kind.plural}${kind.group === '' ? '' : `.${kind.group}`}`,
                'data-kind': kind.id,
                'aria-current': kind.id === selected ? 'true' : undefined,
                onclick: () => open(kind),
                onkeydown: pressed,
              },
              kind.kind,
            ),
          ),
        ),
      ),
      shown.length === 0
        ? [
            h('p', { class: 'hint' }, 'No kind matches.'),
            h(
              'button',
              {
                type: 'button',
                class: 'button small',
                onclick: () => readAgain().catch((error) => announce(error.message)),
              },
              'Read the kinds again',
            ),
          ]
        : null,
    );
    const inOrder = list.querySelector('[aria-current]') ?? list.querySelector('button');
    if (inOrder) inOrder.tabIndex = 0;
  };
  draw();
  return {
    element: h('div', { class: 'kind-list' }, box, list),
    focus: () => box.focus(),
    setKinds(all) {
      listable = listableOf(all);
      draw();
    },
    select(kind) {
      if (kind?.id === selected) return;
      selected = kind?.id;
      const scrollTop = list.scrollTop;
      draw();
      list.scrollTop = scrollTop;
      list.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    },
  };
}
