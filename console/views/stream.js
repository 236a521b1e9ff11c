import { pathOf } from '../api/discovery.js';
import { Informer } from '../api/informer.js';
import { fill, h, oncePerFrame } from '../ui/dom.js';
import { clockTime } from '../ui/time.js';
import { sparkline } from '../ui/charts.js';
import { VirtualList } from '../ui/virtual-list.js';

const eventsMax = 10_000;
const tones = { ADDED: 'good', MODIFIED: 'wait', DELETED: 'bad' };

/** The watch of a kind as it comes: each event with its revision and the manager that wrote it. */
export class StreamView {
  #events = [];
  #shown = [];
  #total = 0;
  #perSecond = new Array(60).fill(0);
  #isPaused = false;

  constructor(context, { kind, namespace }) {
    this.context = context;
    this.route = { kind, namespace };
    this.changed = oncePerFrame(() => this.#draw());
    this.list = new VirtualList({
      label: 'Events of the watch, the latest first',
      rowHeight: 26,
      draw: (element, index) => this.#drawRow(element, this.#shown[index]),
      open: (index) => {
        const { namespace, name } = this.#shown[index];
        context.openObject(kind, namespace, name);
      },
    });
    this.count = h('span', { class: 'count' });
    this.rate = h('span', { class: 'rate' });
    this.notice = h('p', { class: 'notice', hidden: true, role: 'alert' });
    this.filter = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter by type, name or manager',
      'aria-label': 'Filter events',
      oninput: () => this.changed(),
    });
    const pause = h(
      'button',
      {
        type: 'button',
        class: 'button small',
        'aria-pressed': 'false',
        onclick: () => {
          this.#isPaused = !this.#isPaused;
          pause.setAttribute('aria-pressed', String(this.#isPaused));
          pause.textContent = this.#isPaused ? 'Continue' : 'Pause';
          this.changed();
        },
      },
      'Pause',
    );
    this.element = h(
      'section',
      { class: 'list-pane', 'aria-label': 'Watch' },
      h(
        'div',
        { class: 'toolbar' },
        h('h1', { class: 'view-title' }, 'Watch', h('span', { class: 'muted' }, ` ${kind.kind}`)),
        this.count,
        this.rate,
        h('span', { class: 'spacer' }),
        this.filter,
        pause,
      ),
      this.notice,
      h(
        'div',
        { class: 'table-head' },
        ['Time', 'Event', 'Object', 'Revision', 'Written by'].map((name) => h('span', {}, name)),
      ),
      this.list.element,
    );
    this.element.style.setProperty('--columns', '6rem 7rem minmax(12rem, 3fr) 7rem 1.5fr');
    this.#follow();
    this.clock = setInterval(() => this.#second(), 1000);
  }

  stop() {
    this.informer.stop();
    clearInterval(this.clock);
    this.changed.cancel();
    this.list.stop();
  }

  #follow() {
    const { kind, namespace } = this.route;
    this.informer = new Informer(
      this.context.connection,
      { path: pathOf(kind, namespace), query: { includeObject: 'Metadata' } },
      {
        reset: () => {
          if (this.begunMs !== undefined) {
            const gap = `between ${clockTime(this.latestMs)} and ${clockTime(Date.now())}`;
            this.gap = `The server no longer had the revision of this watch. Events ${gap} may be missing.`;
          }
          this.begunMs ??= Date.now();
        },
        events: (events) => {
          const at = Date.now();
          for (const { type, entry, revision } of events) {
            this.#total++;
            this.#perSecond[this.#perSecond.length - 1]++;
            // Only what is shown: the metadata of 10,000 events could fill the memory.
            const { namespace = '', name = '' } = entry.metadata;
            this.#events.push({ type, namespace, name, revision, at, writer: writer(entry.metadata) });
          }
          if (this.#events.length > 2 * eventsMax) this.#events = this.#events.slice(-eventsMax);
          this.context.revisions.add(events.at(-1).revision);
          this.changed();
        },
        state: (name, detail) => {
          this.context.setState(name, detail);
          if (name === 'live') this.latestMs = Date.now();
          const problem = name === 'failed' ? detail : this.gap;
          this.notice.hidden = problem === undefined;
          fill(this.notice, problem);
        },
      },
    ).start();
  }

  #second() {
    fill(this.rate, sparkline(this.#perSecond, 'Events of the last minute'), `${this.#perSecond.at(-1)}/s`);
    this.#perSecond = [...this.#perSecond.slice(1), 0];
  }

  #draw() {
    this.count.textContent = `${this.#total.toLocaleString()} ${this.#total === 1 ? 'event' : 'events'}`;
    if (this.#isPaused) return this.list.refresh();
    const words = this.filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const all =
      words.length === 0
        ? this.#events
        : this.#events.filter((event) => words.every((word) => searched(event).includes(word)));
    this.#shown = all.slice(-eventsMax).reverse();
    this.list.setCount(this.#shown.length);
  }

  #drawRow(element, event) {
    if (!event || element.drawn === event) return;
    element.drawn = event;
    const { type, namespace, name, revision, at } = event;
    const cell = (text, extra = '') => h('span', { class: `cell ${extra}`, role: 'gridcell', title: text }, text);
    fill(
      element,
      cell(clockTime(at), 'mono muted'),
      h('span', { class: 'cell', role: 'gridcell' }, h('span', { class: 'badge', 'data-tone': tones[type] }, type)),
      cell(namespace ? `${namespace}/${name}` : name),
      cell(revision, 'mono'),
      cell(event.writer, 'muted'),
    );
  }
}

/** Returns the manager with the latest time in managedFields. */
function writer({ managedFields }) {
  if (!Array.isArray(managedFields)) return '';
  let latest;
  for (const entry of managedFields) if (!latest || (entry.time ?? '') >= (latest.time ?? '')) latest = entry;
  return latest ? `${latest.manager}${latest.subresource ? ` (${latest.subresource})` : ''}` : '';
}

const searched = (event) => `${event.type} ${event.namespace}/${event.name} ${event.writer}`.toLowerCase();
