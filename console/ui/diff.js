import { changedLines, commonLength } from '../model/line-diff.js';
import { inSlices } from '../model/slices.js';
import { h } from './dom.js';

const linesMax = 1_000;
const charactersMax = 100_000;
/** Of longer lines an excerpt is shown: around the first change. */
const excerptLength = 1_000;
const excerptBefore = 100;
const signs = { same: ' ', added: '+', removed: '-', skipped: '⋯' };
const spoken = { added: 'added', removed: 'removed' };

/** Draws the changed lines of two texts with some lines around them. */
export async function diffElement(before, after, label) {
  const lines = await inSlices(changedLines(before, after));
  const changes = lines.filter(({ type }) => type === 'added' || type === 'removed').length;
  if (changes === 0) return h('p', { class: 'hint' }, 'No difference.');
  const excerpts = excerptsOf(lines.slice(0, linesMax));
  let characters = 0;
  const shown = excerpts.filter(({ text }) => (characters += text.length) <= charactersMax);
  const hidden = lines.slice(shown.length).reduce((sum, { count = 1 }) => sum + count, 0);
  return h(
    'div',
    { class: 'diff', role: 'group', 'aria-label': label, tabindex: '0' },
    shown.map(({ type, text, count, before, after }) =>
      h(
        'div',
        { class: `diff-line is-${type}` },
        h('span', { class: 'diff-sign', 'aria-hidden': 'true' }, signs[type]),
        spoken[type] ? h('span', { class: 'visually-hidden' }, `${spoken[type]}: `) : null,
        h('span', {}, cut(before), type === 'skipped' ? `${count.toLocaleString()} lines` : text, cut(after)),
      ),
    ),
    hidden > 0 ? h('p', { class: 'hint' }, `${hidden.toLocaleString()} more lines`) : null,
  );
}

const cut = (count = 0) =>
  count === 0 ? null : h('span', { class: 'muted' }, ` ⋯ ${count.toLocaleString()} characters ⋯ `);

/** Shortens long lines; `before` and `after` count the characters that are left out. */
function excerptsOf(lines) {
  const partners = partnersOf(lines);
  return lines.map((line) => {
    const { text } = line;
    if (text.length <= excerptLength) return line;
    const partner = partners.get(line);
    const begin = partner ? Math.max(0, commonLength(text, partner.text) - excerptBefore) : 0;
    const end = Math.min(text.length, begin + excerptLength);
    return { ...line, text: text.slice(begin, end), before: begin, after: text.length - end };
  });
}

/** Returns the added line for each removed one of the same block, and the other way round. */
function partnersOf(lines) {
  const partners = new Map();
  let [removed, added] = [[], []];
  const pair = () => {
    for (let index = 0; index < Math.min(removed.length, added.length); index++) {
      partners.set(removed[index], added[index]).set(added[index], removed[index]);
    }
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.type === 'removed') removed.push(line);
    else if (line.type === 'added') added.push(line);
    else pair();
  }
  pair();
  return partners;
}
