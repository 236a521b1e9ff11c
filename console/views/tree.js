import { pathOf } from '../api/discovery.js';
import { asMetadata, asMetadataList, Informer } from '../api/informer.js';
import { rowOf } from '../model/collection.js';
import { arrange } from '../model/owner-tree.js';
import { fill, h } from '../ui/dom.js';
import { age } from '../ui/time.js';
import { VirtualList } from '../ui/virtual-list.js';

/** Kinds with many short-lived objects, which nobody owns. */
const skipped = new Set(['events.', 'events.events.k8s.io', 'leases.coordination.k8s.io']);
const arrangeMs = 200;
/** Deeper rows have the number of their owners instead of more space before their name. */
const indentMax = 6;
/** Browsers open six connections to a server without HTTP/2: the others must stay free for requests. */
const followedWithoutHttp2 = new Set(['deployments.apps', 'replicasets.apps', 'jobs.batch', 'pods.']);

/** All namespaced objects below their owners, live: watches the metadata of every kind that the user may list. */
export class TreeView {
  #rows = new Map();
  #collapsed = new Set();
  #lines = [];
  #informers = [];
  #live = new Set();
  #failed = new Map();

  constructor(context) {
    this.context = context;
    this.list = new VirtualList({
      label: 'Objects below their owners',
      role: 'treegrid',
      draw: (element, index) => this.#drawRow(element, this.#lines[index]),
      open: (index) => {
        const { row } = this.#lines[index];
        context.openObject(row.kind, row.namespace, row.name);
      },
      expand: (index, wanted) => this.#expand(index, wanted),
    });
    this.count = h('span', { class: 'count' });
    this.notice = h('span', { class: 'hint' });
    this.filter = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter by kind, name or label',
      'aria-label': 'Filter objects',
      oninput: () => this.#arrangeSoon(),
    });
    const all = (isCollapsed) => () => {
      this.#collapsed = new Set(isCollapsed ? this.#rows.keys() : []);
      this.#arrangeSoon();
    };
    this.element = h(
      'section',
      { class: 'list-pane', 'aria-label': 'Objects by owner' },
      h(
        'div',
        { class: 'toolbar' },
        h('h1', { class: 'view-title' }, 'Owners'),
        this.count,
        this.notice,
        h('span', { class: 'spacer' }),
        this.filter,
        h('button', { type: 'button', class: 'button small', onclick: all(true) }, 'Collapse'),
        h('button', { type: 'button', class: 'button small', onclick: all(false) }, 'Expand'),
      ),
      h(
        'div',
        { class: 'table-head' },
        ['Object', 'Kind', 'Namespace', 'Revision', 'Age'].map((name) => h('span', {}, name)),
      ),
      this.list.element,
    );
    this.element.style.setProperty('--columns', 'minmax(14rem, 3fr) 1.2fr 1fr .8fr .6fr');
    this.#follow();
  }

  stop() {
    for (const informer of this.#informers) informer.stop();
    clearTimeout(this.timer);
    this.list.stop();
  }

  routed() {
    return true;
  }

  namespaceChanged() {
    for (const informer of this.#informers) informer.stop();
    this.#rows.clear();
    this.#live.clear();
    this.#failed.clear();
    this.#follow();
    this.#arrangeSoon();
  }

  #follow() {
    const { session, namespace, connection } = this.context;
    const kinds = session.kinds.filter(
      ({ id, isNamespaced, verbs }) => isNamespaced && verbs.has('watch') && !skipped.has(id),
    );
    const isHttp2 = performance.getEntriesByType('resource').some(({ nextHopProtocol }) => nextHopProtocol === 'h2');
    const followed = isHttp2 ? kinds : kinds.filter(({ id }) => followedWithoutHttp2.has(id));
    this.#informers = followed.map((kind) =>
      new Informer(
        connection,
        { path: pathOf(kind, namespace), accept: asMetadata, listAccept: asMetadataList },
        {
          reset: () => {
            for (const [id, row] of this.#rows) if (row.kind === kind) this.#rows.delete(id);
          },
          objects: (entries) => {
            for (const entry of entries) this.#set(rowOf(entry, kind));
            this.#arrangeSoon();
          },
          events: (events) => {
            for (const { type, entry } of events) {
              const row = rowOf(entry, kind);
              if (type === 'DELETED') this.#rows.delete(row.id);
              else this.#set(row);
            }
            this.#arrangeSoon();
          },
          state: (name, detail) => this.#state(kind, name, detail),
        },
      ).start(),
    );
    this.expected = followed.length;
  }

  #set(row) {
    this.#rows.set(row.id, row);
  }

  #state(kind, name, detail) {
    if (name === 'live') this.#live.add(kind.id);
    else this.#live.delete(kind.id);
    if (name === 'failed') this.#failed.set(kind.id, detail);
    else this.#failed.delete(kind.id);
    const isLive = this.#live.size + this.#failed.size === this.expected;
    this.context.setState(isLive ? 'live' : name === 'waiting' ? 'waiting' : 'listing', detail);
    this.notice.textContent = `${this.#live.size} of ${this.expected} kinds watched`;
    this.notice.title = [...this.#failed.values()].join('\n');
  }

  /** Arranges all rows a few times a second at most, however many events come. */
  #arrangeSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const words = this.filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      const matches = ({ kind, searched }) =>
        words.every((word) => searched.includes(word) || kind.kind.toLowerCase().includes(word));
      this.#lines = arrange([...this.#rows.values()], this.#collapsed, matches);
      this.count.textContent = this.#rows.size.toLocaleString();
      this.list.setCount(this.#lines.length);
    }, arrangeMs);
  }

  #expand(index, wanted) {
    const line = this.#lines[index];
    if (!line || line.children === 0) return;
    const expand = wanted ?? !line.isExpanded;
    if (expand) this.#collapsed.delete(line.row.id);
    else this.#collapsed.add(line.row.id);
    this.#arrangeSoon();
  }

  #drawRow(element, line) {
    if (!line || element.drawn === line) return;
    element.drawn = line;
    const { row, depth, children, isExpanded } = line;
    element.setAttribute('aria-level', String(depth + 1));
    if (children > 0) element.setAttribute('aria-expanded', String(isExpanded));
    else element.removeAttribute('aria-expanded');
    const name = h(
      'span',
      { class: 'cell tree-cell', role: 'gridcell', title: row.name },
      h(
        'span',
        { class: 'expander', 'data-expander': '', 'aria-hidden': 'true' },
        children === 0 ? '' : isExpanded ? '▾' : '▸',
      ),
      depth > indentMax ? h('span', { class: 'muted', title: 'Number of owners above' }, `${depth} `) : null,
      row.name,
      children === 0 ? null : h('span', { class: 'muted' }, ` ${children}`),
    );
    name.style.paddingInlineStart = `${Math.min(depth, indentMax) * 1.1}rem`;
    const cell = (text, extra = '') => h('span', { class: `cell ${extra}`, role: 'gridcell' }, text);
    fill(
      element,
      name,
      h('span', { class: 'cell', role: 'gridcell' }, h('span', { class: 'badge' }, row.kind.kind)),
      cell(row.namespace),
      cell(row.revision || '', 'mono'),
      cell(age(row.created)),
    );
  }
}
