import { listAt, newestRevision, objectAt, oldestRevision } from '../api/past.js';
import { inSlices } from '../model/slices.js';
import { yamlLineSteps, yamlText } from '../model/yaml-lines.js';
import { diffElement } from '../ui/diff.js';
import { announce, fill, h, svg } from '../ui/dom.js';
import { paneHead } from '../ui/pane-head.js';
import { clockTime } from '../ui/time.js';
import { VirtualList } from '../ui/virtual-list.js';
import { withoutManagedFields } from './fields-tab.js';

const settleMs = 150;
const followMs = 3_000;
const tones = { added: 'good', changed: 'wait', removed: 'bad' };
const words = { added: 'created since', changed: 'changed since', removed: 'deleted since', same: '' };

/** The objects of a kind at any revision that the server retains, compared with the present. */
export class HistoryView {
  #rows = [];
  #abort = new AbortController();

  constructor(context, { kind, namespace }) {
    this.context = context;
    this.route = { kind, namespace };
    this.slider = h('input', {
      type: 'range',
      class: 'timeline-slider',
      'aria-label': 'Revision',
      min: '1',
      max: '1',
      oninput: () => this.#moved(),
    });
    this.marks = h('div', { class: 'timeline-marks' });
    this.label = h('output', { class: 'mono revision' });
    this.notice = h('p', { class: 'notice', hidden: true, role: 'alert' });
    this.count = h('span', { class: 'count' });
    this.list = new VirtualList({
      label: 'Objects at the revision',
      draw: (element, index) => this.#drawRow(element, this.#rows[index]),
      open: (index) => void this.#compare(this.#rows[index]),
    });
    this.pane = h('aside', { class: 'detail-pane', 'aria-label': 'Difference', hidden: true });
    const step = (by, label) =>
      h(
        'button',
        {
          type: 'button',
          class: 'button small',
          'aria-label': label,
          onclick: () => this.#go(Number(this.slider.value) + by),
        },
        by < 0 ? '‹' : '›',
      );
    this.element = h(
      'div',
      { class: 'split' },
      h(
        'section',
        { class: 'list-pane', 'aria-label': 'History' },
        h(
          'div',
          { class: 'toolbar' },
          h('h1', { class: 'view-title' }, 'History', h('span', { class: 'muted' }, ` ${kind.kind}`)),
          this.count,
          h('span', { class: 'spacer' }),
          step(-1, 'Earlier revision'),
          this.label,
          step(1, 'Later revision'),
          h('button', { type: 'button', class: 'button small', onclick: () => this.#go(Infinity) }, 'Now'),
        ),
        h('div', { class: 'timeline' }, this.marks, this.slider),
        this.notice,
        h(
          'div',
          { class: 'table-head' },
          ['Name', 'Namespace', 'Revision', 'Until now'].map((name) => h('span', {}, name)),
        ),
        this.list.element,
      ),
      this.pane,
    );
    this.element.style.setProperty('--columns', 'minmax(12rem, 2fr) 1fr 1fr 1fr');
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#closePane();
    });
    void this.#begin();
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.timer);
    clearInterval(this.clock);
    this.list.stop();
  }

  /** Begins anew if the server did not answer the first time. */
  reconnected() {
    if (this.clock === undefined) void this.#begin();
  }

  async #begin() {
    const { signal } = this.#abort;
    try {
      await this.#readPresent();
      this.slider.value = this.slider.max;
      await this.#show(Number(this.slider.max));
      this.slider.min = String(
        await oldestRevision(this.context.connection, this.route, Number(this.slider.max), signal),
      );
      this.#drawMarks();
    } catch (error) {
      if (!signal.aborted) this.#say(error.message);
      return;
    }
    this.clock = setInterval(() => void this.#follow(), followMs);
  }

  /** Extends the timeline. */
  async #follow() {
    if (document.hidden) return;
    try {
      this.#extend(await newestRevision(this.context.connection, this.route, this.#abort.signal));
    } catch {
      // The next one may succeed.
    }
  }

  async #readPresent() {
    this.present = await listAt(this.context.connection, this.route, undefined, this.#abort.signal);
    this.#extend(this.present.revision);
  }

  #extend(newest) {
    if (newest > Number(this.slider.max)) this.slider.max = String(newest);
    this.context.revisions.add(newest);
    this.#drawMarks();
  }

  #go(revision) {
    const { min, max } = this.slider;
    this.slider.value = String(Math.max(Number(min), Math.min(revision, Number(max))));
    this.#moved();
  }

  #moved() {
    this.#drawLabel();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.#show(Number(this.slider.value)), settleMs);
  }

  async #show(revision) {
    this.#drawLabel();
    try {
      const isNow = revision >= this.present.revision;
      if (isNow) await this.#readPresent();
      const past = isNow
        ? this.present
        : await listAt(this.context.connection, this.route, revision, this.#abort.signal);
      if (revision !== Number(this.slider.value)) return;
      this.#say(past.isCut ? 'Only the first objects are shown: the list is too long.' : '');
      this.#rows = compared(past.objects, this.present.objects);
      const changes = this.#rows.filter(({ change }) => change !== 'same').length;
      this.count.textContent = `${past.objects.size.toLocaleString()} objects, ${changes} differ from now`;
      announce(`Revision ${revision}: ${this.count.textContent}`);
      this.list.setCount(this.#rows.length);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (error.status === 410) this.slider.min = String(Math.min(revision + 1, Number(this.slider.max)));
      this.#say(error.status === 410 ? `The server no longer retains revision ${revision}.` : error.message);
    }
  }

  #drawLabel() {
    const revision = Number(this.slider.value);
    const at = this.context.revisions.timeOf(revision);
    this.label.textContent = `${revision}${at === undefined ? '' : ` · ${clockTime(at)}`}`;
    this.slider.setAttribute('aria-valuetext', `revision ${this.label.textContent}`);
  }

  #drawMarks() {
    const [min, max] = [Number(this.slider.min), Number(this.slider.max)];
    const x = (revision) => (1000 * (revision - min)) / Math.max(1, max - min);
    const seen = this.context.revisions.all.filter(({ revision }) => revision >= min && revision <= max);
    fill(
      this.marks,
      svg(
        'svg',
        { viewBox: '0 0 1000 20', class: 'timeline-svg', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        svg('line', { x1: 0, x2: 1000, y1: 10, y2: 10, class: 'chart-grid' }),
        seen.map(({ revision }) =>
          svg('line', { x1: x(revision), x2: x(revision), y1: 3, y2: 17, class: 'timeline-mark' }),
        ),
      ),
      h('div', { class: 'timeline-ends' }, h('span', {}, `oldest ${min}`), h('span', {}, `now ${max}`)),
    );
    this.#drawLabel();
  }

  #drawRow(element, row) {
    if (!row || element.drawn === row) return;
    element.drawn = row;
    const { metadata } = row.shown;
    const cell = (text, extra = '') => h('span', { class: `cell ${extra}`, role: 'gridcell', title: text }, text);
    fill(
      element,
      cell(metadata.name, row.change === 'added' ? 'muted' : ''),
      cell(metadata.namespace ?? ''),
      cell(row.change === 'added' ? '' : metadata.resourceVersion, 'mono'),
      h(
        'span',
        { class: 'cell', role: 'gridcell' },
        row.change === 'same' ? '' : h('span', { class: 'badge', 'data-tone': tones[row.change] }, words[row.change]),
      ),
    );
  }

  async #compare(row) {
    const { kind } = this.route;
    const { connection } = this.context;
    const { name, namespace } = row.shown.metadata;
    const revision = Number(this.slider.value);
    const text = async (object) =>
      object ? yamlText(await inSlices(yamlLineSteps(withoutManagedFields(object)))) : '';
    const body = h('div', { class: 'scroll pad' }, h('p', { class: 'loading' }, 'Reading both states…'));
    const open = h(
      'button',
      {
        type: 'button',
        class: 'button small',
        hidden: row.now === undefined,
        onclick: () => this.context.openObject(kind, namespace ?? '', name),
      },
      'Open',
    );
    this.pane.hidden = false;
    this.element.classList.add('has-detail');
    const head = paneHead({
      kind,
      title: name,
      note: `revision ${revision} → now`,
      buttons: open,
      closeLabel: 'Close',
      close: () => this.#closePane(),
    });
    fill(this.pane, h('div', { class: 'detail' }, head, body));
    try {
      const at = (then) => objectAt(connection, kind, { namespace, name }, then);
      // The revision that the list was compared with may be compacted by now.
      const states = await Promise.all([at(revision), at(undefined)]);
      const [before, after] = await Promise.all(states.map(text));
      fill(body, await diffElement(before, after, 'Changes since the revision'));
    } catch (error) {
      fill(body, h('p', { class: 'problem', role: 'alert' }, error.message));
    }
  }

  #closePane() {
    this.pane.hidden = true;
    this.element.classList.remove('has-detail');
    this.list.element.focus();
  }

  #say(text) {
    this.notice.hidden = text === '';
    fill(this.notice, text);
  }
}

/** Returns rows for the objects of both states, the different ones first. */
function compared(then, now) {
  const rows = [];
  for (const [uid, object] of then) {
    const later = now.get(uid);
    const isSame = later?.metadata.resourceVersion === object.metadata.resourceVersion;
    rows.push({ then: object, now: later, shown: object, change: later ? (isSame ? 'same' : 'changed') : 'removed' });
  }
  for (const [uid, object] of now) if (!then.has(uid)) rows.push({ now: object, shown: object, change: 'added' });
  const rank = { removed: 0, changed: 1, added: 2, same: 3 };
  const key = ({ change, shown }) => `${rank[change]} ${shown.metadata.namespace ?? ''} ${shown.metadata.name}`;
  return rows.map((row) => ({ row, key: key(row) })).sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row); // prettier-ignore
}
