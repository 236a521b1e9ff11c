import { pathOf } from '../api/discovery.js';
import { Informer } from '../api/informer.js';
import { Collection, rowOf } from '../model/collection.js';
import { fill, h, oncePerFrame } from '../ui/dom.js';
import { age } from '../ui/time.js';
import { objectLink } from '../ui/route.js';
import { VirtualList } from '../ui/virtual-list.js';
import { createPane } from './create-pane.js';
import { DetailPane } from './detail.js';

const changedMs = 1200;
/** More columns share the width: each has its whole text as a tooltip. */
const crowdedColumns = 7;

/** The objects of one kind as the server's own table, live; beside it the object that the URL names. */
export class ObjectsView {
  #collection = new Collection();
  #columns = [];
  #detail;

  constructor(context, route) {
    this.context = context;
    this.changed = oncePerFrame(() => this.#drawCount());
    this.list = new VirtualList({
      label: 'Objects',
      draw: (element, index) => this.#drawRow(element, index),
      open: (index) => {
        const row = this.#collection.visible[index];
        if (row) context.openObject(row.kind, row.namespace, row.name);
      },
    });
    this.count = h('span', { class: 'count', 'aria-live': 'off' });
    this.title = h('h1', { class: 'view-title' });
    this.notice = h('p', { class: 'notice', hidden: true, role: 'alert' });
    this.head = h('div', { class: 'table-head', role: 'presentation' });
    this.filter = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter by name, label or cell',
      'aria-label': 'Filter objects',
      oninput: () => this.#filtered(),
      onkeydown: (event) => event.key === 'ArrowDown' && this.list.element.focus(),
    });
    const sort = h(
      'select',
      { 'aria-label': 'Sort by', onchange: () => this.#sorted(sort.value) },
      ['name', 'age', 'revision'].map((order) => h('option', { value: order }, `by ${order}`)),
    );
    this.pane = h('aside', { class: 'detail-pane', 'aria-label': 'Object', hidden: true });
    this.element = h(
      'div',
      { class: 'split' },
      h(
        'section',
        { class: 'list-pane', 'aria-label': 'List' },
        h(
          'div',
          { class: 'toolbar' },
          this.title,
          this.count,
          h('span', { class: 'spacer' }),
          this.filter,
          sort,
          route.kind.verbs.has('create')
            ? h('button', { type: 'button', class: 'button', onclick: () => this.#create() }, 'New')
            : null,
        ),
        this.notice,
        this.head,
        this.list.element,
      ),
      this.pane,
    );
    this.clock = setInterval(() => this.#redraw(), 10_000);
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.#detail && !event.target.closest('dialog')) this.#close();
    });
    this.#follow(route);
    this.#select(route);
  }

  stop() {
    this.informer?.stop();
    this.list.stop();
    this.changed.cancel();
    clearInterval(this.clock);
    clearTimeout(this.fading);
    this.#detail?.stop();
  }

  /** Keeps the list if only the object changes. */
  routed(route) {
    if (route.kind !== this.route.kind || route.namespace !== this.route.namespace) return false;
    this.#select(route);
    return true;
  }

  #follow(route) {
    this.route = route;
    const { kind, namespace } = route;
    fill(this.title, kind.kind, h('span', { class: 'muted' }, ` ${kind.group || 'core'}/${kind.version}`));
    const show = (text) => {
      this.notice.hidden = text === '';
      fill(this.notice, text);
    };
    this.informer = new Informer(
      this.context.connection,
      { path: pathOf(kind, namespace), query: { includeObject: 'Metadata' } },
      {
        reset: () => this.#collection.clear(),
        objects: (entries, columns) => {
          this.#setColumns(columns);
          this.#collection.addAll(entries.map((entry) => rowOf(entry, kind)));
          show('');
          this.changed();
        },
        events: (events) => this.#apply(events, kind),
        state: (name, detail) => {
          this.context.setState(name, detail);
          if (name === 'failed') show(detail);
          // While there was no watch, the object may have changed.
          else if (name === 'live') {
            show('');
            this.#detail?.changed('MODIFIED');
          }
        },
      },
    ).start();
  }

  #apply(events, kind) {
    const selected = this.#detail?.name;
    for (const { type, entry } of events) {
      const row = rowOf(entry, kind);
      if (type === 'DELETED') this.#collection.delete(row.id);
      else {
        row.changedMs = performance.now();
        this.#collection.set(row);
      }
      if (row.name === selected && row.namespace === this.#detail.namespace) this.#detail.changed(type);
    }
    this.context.revisions.add(events.at(-1).revision);
    clearTimeout(this.fading);
    this.fading = setTimeout(() => this.changed(), changedMs + 50);
    this.changed();
  }

  #setColumns(columns = [{ name: 'Name' }]) {
    const text = columns.map(({ name }) => name).join();
    if (this.columnText === text && this.#columns.length > 0) return;
    this.columnText = text;
    const shown = columns.map((column, index) => ({ ...column, index })).filter(({ priority = 0 }) => priority === 0);
    const isAll = this.route.kind.isNamespaced && this.route.namespace === '';
    this.#columns = isAll ? [shown[0], { name: 'Namespace', isNamespace: true }, ...shown.slice(1)] : shown;
    const isCrowded = this.#columns.length > crowdedColumns;
    const widths = this.#columns.map(({ name }, index) =>
      index === 0 ? 'minmax(8rem, 2.4fr)' : isCrowded ? 'minmax(0, 1fr)' : widthOf(name),
    );
    this.element.style.setProperty('--columns', widths.join(' '));
    fill(
      this.head,
      this.#columns.map(({ name, description }) =>
        h('span', { title: [name, description].filter(Boolean).join(': ') }, name),
      ),
    );
  }

  #drawCount() {
    const { visible, size } = this.#collection;
    this.count.textContent =
      visible.length === size
        ? size.toLocaleString()
        : `${visible.length.toLocaleString()} of ${size.toLocaleString()}`;
    this.list.setCount(visible.length);
    this.list.element.classList.toggle('is-empty', visible.length === 0);
  }

  #redraw() {
    for (const element of this.list.element.querySelectorAll('.virtual-row')) element.drawn = undefined;
    this.changed();
  }

  #drawRow(element, index) {
    const row = this.#collection.visible[index];
    if (!row) return;
    const isSelected = this.#detail?.name === row.name && this.#detail.namespace === row.namespace;
    element.classList.toggle('is-selected', isSelected);
    element.setAttribute('aria-selected', String(isSelected));
    element.classList.toggle('is-changed', performance.now() - (row.changedMs ?? -Infinity) < changedMs);
    if (element.drawn === row && element.drawnColumns === this.#columns) return;
    element.drawn = row;
    element.drawnColumns = this.#columns;
    fill(
      element,
      this.#columns.map((column) => {
        const text = cellText(row, column);
        const properties = { class: 'cell', role: 'gridcell', title: text };
        if (column.index === 0) {
          const href = objectLink(row.kind, row.namespace, row.name, this.route.namespace);
          return h('span', properties, h('a', { href, tabindex: '-1', class: 'row-link' }, text));
        }
        return h('span', { ...properties, 'data-tone': toneOf(column.name, text) }, text);
      }),
    );
  }

  #filtered() {
    this.#collection.filterBy(this.filter.value);
    this.list.element.scrollTop = 0;
    this.changed();
  }

  #sorted(order) {
    this.#collection.sortBy(order);
    this.changed();
  }

  #select({ kind, object }) {
    this.#detail?.stop();
    this.#detail = undefined;
    this.pane.hidden = object === undefined;
    this.element.classList.toggle('has-detail', object !== undefined);
    if (object !== undefined) {
      this.#detail = new DetailPane(this.context, { kind, ...object }, () => this.#close());
      fill(this.pane, this.#detail.element);
    }
    this.changed();
  }

  /** Shows an editor for a new object in the place of the object. */
  #create() {
    const { kind, namespace } = this.route;
    history.replaceState(null, '', objectLink(kind, namespace));
    this.#detail?.stop();
    this.#detail = undefined;
    this.pane.hidden = false;
    this.element.classList.add('has-detail');
    fill(
      this.pane,
      createPane(this.context, this.route, () => this.#select({ ...this.route, object: undefined })),
    );
    this.pane.querySelector('textarea').focus();
  }

  #close() {
    const { kind, namespace } = this.route;
    location.hash = objectLink(kind, namespace);
    this.list.element.focus();
  }
}

const widthOf = (name) =>
  /^(age|ready|status|type|data|revision)$/i.test(name) ? 'minmax(4rem, .7fr)' : 'minmax(5rem, 1fr)';

function cellText({ namespace, created, cells }, { name, index, isNamespace }) {
  if (isNamespace) return namespace;
  if (name === 'Age') return age(created);
  const value = cells[index];
  return value === undefined || value === null ? '' : String(value);
}

/** Colours known states; the text itself says the same. */
function toneOf(column, text) {
  if (!/^(status|ready|phase|condition|conditions|available)$/i.test(column)) return undefined;
  if (/^(running|active|ready|bound|true|available|complete[d]?|succeeded|established)$/i.test(text)) return 'good';
  if (/^(pending|terminating|containercreating|unknown|progressing)$/i.test(text)) return 'wait';
  if (/(fail|error|crash|lost|backoff|^false$|notready)/i.test(text)) return 'bad';
  return undefined;
}
