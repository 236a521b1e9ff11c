import { h } from './dom.js';

/** Returns the head of a pane beside a list: what it shows, buttons, and the one that closes it. */
export function paneHead({ kind, title, note = '', buttons = [], closeLabel, close }) {
  return h(
    'div',
    { class: 'detail-head' },
    h(
      'div',
      { class: 'detail-title' },
      h('span', { class: 'badge' }, kind.kind),
      h('h2', { title }, title),
      note === '' ? null : h('span', { class: 'muted' }, note),
    ),
    buttons,
    h('button', { type: 'button', class: 'icon-button', 'aria-label': closeLabel, onclick: close }, '✕'),
  );
}
