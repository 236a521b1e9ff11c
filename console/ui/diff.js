import { lineDiff, shortened } from '../model/line-diff.js';
import { h } from './dom.js';

const linesMax = 2000;
const signs = { same: ' ', added: '+', removed: '-', skipped: '⋯' };
const spoken = { added: 'added', removed: 'removed' };

/** Draws the changed lines of two texts with some lines around them. */
export function diffElement(before, after, label) {
  const lines = shortened(lineDiff(before, after));
  const changes = lines.filter(({ type }) => type === 'added' || type === 'removed').length;
  if (changes === 0) return h('p', { class: 'hint' }, 'No difference.');
  return h(
    'div',
    { class: 'diff', role: 'group', 'aria-label': label, tabindex: '0' },
    lines
      .slice(0, linesMax)
      .map(({ type, text, count }) =>
        h(
          'div',
          { class: `diff-line is-${type}` },
          h('span', { class: 'diff-sign', 'aria-hidden': 'true' }, signs[type]),
          spoken[type] ? h('span', { class: 'visually-hidden' }, `${spoken[type]}: `) : null,
          type === 'skipped' ? `${count} lines` : text,
        ),
      ),
    lines.length > linesMax ? h('p', { class: 'hint' }, `${lines.length - linesMax} more lines`) : null,
  );
}
