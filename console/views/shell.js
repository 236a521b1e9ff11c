import { discover, pathOf } from '../api/discovery.js';
import { asMetadata, asMetadataList, Informer } from '../api/informer.js';
import { RevisionLog } from '../model/revision-log.js';
import { announce, fill, h, oncePerFrame } from '../ui/dom.js';
import { icon } from '../ui/icons.js';
import { link, none, objectLink, segments } from '../ui/route.js';
import { Shortcuts } from '../ui/shortcuts.js';
import { toggleTheme } from '../ui/theme.js';
import { AccessView } from './access.js';
import { awayBanner } from './away-banner.js';
import { HistoryView } from './history.js';
import { kindList } from './kind-list.js';
import { ObjectsView } from './objects.js';
import { rootOnly } from './root-only.js';
import { StreamView } from './stream.js';
import { TrafficView } from './traffic.js';
import { TreeView } from './tree.js';
import { unknownKind } from './unknown-kind.js';

const trafficView = (context) =>
  context.session.cluster === ''
    ? new TrafficView(context)
    : rootOnly('A logical cluster has no metrics of its own: log in without one to see the traffic of the server.');
const views = [
  { id: 'objects', label: 'Objects', key: 'o', make: (context, route) => new ObjectsView(context, route) },
  { id: 'tree', label: 'Owners', key: 't', make: (context) => new TreeView(context) },
  { id: 'stream', label: 'Watch', key: 'w', make: (context, route) => new StreamView(context, route) },
  { id: 'history', label: 'History', key: 'h', make: (context, route) => new HistoryView(context, route) },
  { id: 'access', label: 'Access', key: 'a', make: (context) => new AccessView(context) },
  { id: 'traffic', label: 'Traffic', key: 'm', make: trafficView },
];
/** Views of one kind, whose address has group, plural and namespace. */
const viewsOfKind = new Set(['objects', 'stream', 'history']);

/** The page of a logged-in user: the header, the navigation, and the view that the URL names. */
export class Shell {
  #namespaces = new Set();
  #view;
  #shown = '';

  constructor(session, leave) {
    this.session = session;
    this.namespace = '';
    this.revisions = new RevisionLog();
    this.kind = session.kinds.find(({ id }) => id === 'pods.') ?? session.kinds.find(({ verbs }) => verbs.has('list'));
    this.shortcuts = new Shortcuts([
      ...views.map(({ id, label, key }) => ({ keys: `g ${key}`, text: `Go to ${label}`, run: () => this.#go(id) })),
      { keys: '/', text: 'Filter', run: () => document.querySelector('.filter')?.focus() },
      { keys: 'k', text: 'Choose a kind', run: () => this.kinds.focus() },
      { keys: 'n', text: 'Choose a namespace', run: () => this.namespaceBox.focus() },
      { keys: 'd', text: 'Dark or light', run: toggleTheme },
      { keys: '?', text: 'This help', run: () => this.shortcuts.showHelp() },
    ]);
    this.away = awayBanner(this.connection, () => this.#view?.reconnected?.());
    this.element = this.#layout(leave);
    this.routed = () => this.#route();
    addEventListener('hashchange', this.routed);
    this.#followNamespaces();
    this.#route();
  }

  stop() {
    removeEventListener('hashchange', this.routed);
    this.#view?.stop();
    this.namespaceInformer?.stop();
    this.away.stop();
    this.shortcuts.stop();
  }

  get connection() {
    return this.session.connection;
  }

  /** Shows the state of the watches of the view, in the header. */
  setState(name, detail = '') {
    const texts = { listing: 'Listing…', live: 'Live', waiting: 'Reconnecting', failed: 'Not watching', idle: '' };
    this.state.dataset.state = name;
    this.state.title = detail;
    this.state.textContent = texts[name] ?? name;
  }

  openObject(kind, namespace, name, scope = this.namespace) {
    location.hash = objectLink(kind, kind.isNamespaced ? namespace : '', name, kind.isNamespaced ? scope : '');
  }

  #layout(leave) {
    const { user, kinds, cluster } = this.session;
    this.state = h('span', { class: 'state', role: 'status' });
    this.namespaceBox = h('select', { id: 'namespace', 'aria-label': 'Namespace', onchange: () => this.#chosen() });
    this.#drawNamespaces();
    this.links = views.map(({ id, label, key }) =>
      h('a', { class: 'nav-link', href: link(id), 'data-view': id, title: `g ${key}` }, icon(id), label),
    );
    this.kinds = kindList(kinds, {
      open: (kind) => {
        const view = viewsOfKind.has(this.#shown) ? this.#shown : 'objects';
        location.hash = link(view, kind.group || none, kind.plural, (kind.isNamespaced && this.namespace) || none);
      },
      readAgain: () => this.#readKinds(),
    });
    this.main = h('main', { id: 'main', class: 'main', tabindex: '-1' });
    return h(
      'div',
      { class: 'shell' },
      h(
        'div',
        { class: 'top' },
        h(
          'header',
          { class: 'header' },
          h('div', { class: 'brand' }, h('img', { src: 'icon.svg', alt: '', width: '24', height: '24' }), 'Keelson'),
          cluster === '' ? null : h('span', { class: 'cluster', title: 'Logical cluster' }, cluster),
          h('div', { class: 'header-namespace' }, h('span', { class: 'muted' }, 'Namespace'), this.namespaceBox),
          h('span', { class: 'spacer' }),
          this.state,
          h('span', { class: 'user', title: `${user.name}\nGroups: ${user.groups.join(', ')}` }, user.name),
          h(
            'button',
            { type: 'button', class: 'icon-button', onclick: toggleTheme, 'aria-label': 'Dark or light' },
            icon('theme'),
          ),
          h(
            'button',
            {
              type: 'button',
              class: 'icon-button',
              onclick: () => this.shortcuts.showHelp(),
              'aria-label': 'Keyboard help',
            },
            '?',
          ),
          h('button', { type: 'button', class: 'button small', onclick: () => leave() }, 'Log out'),
        ),
        this.away.element,
      ),
      h(
        'nav',
        { class: 'sidebar', 'aria-label': 'Views and kinds' },
        h('div', { class: 'nav-links' }, this.links),
        this.kinds.element,
      ),
      this.main,
      this.shortcuts.dialog,
    );
  }

  /** Reads the kinds of the server again: some may have been defined since. */
  async #readKinds() {
    const { session } = this;
    session.kinds = await discover(this.connection);
    this.kind = session.kinds.find(({ id }) => id === this.kind?.id);
    this.kinds.setKinds(session.kinds);
  }

  /** Shows the view of the URL. An address without a kind gets the current one. */
  #route() {
    const [id = 'objects', group, plural, namespace = none, objectNamespace = none, name = ''] = segments();
    const view = views.find((one) => one.id === id) ?? views[0];
    const isOfKind = viewsOfKind.has(view.id);
    if (isOfKind && plural !== undefined) {
      const kindId = `${plural}.${group === none ? '' : group}`;
      const kind = this.session.kinds.find((one) => one.id === kindId);
      if (!kind) return this.#showUnknownKind(kindId);
      this.kind = kind;
      if (this.kind.isNamespaced) this.namespace = namespace === none ? '' : namespace;
    }
    this.namespaceBox.value = this.namespace;
    for (const one of this.links) {
      if (one.dataset.view === view.id) one.setAttribute('aria-current', 'page');
      else one.removeAttribute('aria-current');
    }
    this.kinds.select(isOfKind ? this.kind : undefined);
    const route = {
      kind: this.kind,
      namespace: this.kind?.isNamespaced ? this.namespace : '',
      object: name === '' ? undefined : { namespace: objectNamespace === none ? '' : objectNamespace, name },
    };
    if (this.#shown === view.id && this.#view?.routed?.(route)) return;
    this.#show(view, () => view.make(this, route));
  }

  #showUnknownKind(id) {
    const { hash } = location;
    const readAgain = async () => {
      await this.#readKinds();
      const isKnown = this.session.kinds.some((one) => one.id === id);
      if (isKnown && location.hash === hash) this.#route();
      return isKnown;
    };
    this.#show({ id: 'unknown', label: 'Unknown kind' }, () => unknownKind(id.replace(/\.$/, ''), readAgain));
  }

  #show({ id, label }, make) {
    this.#view?.stop();
    this.setState('idle');
    this.#shown = id;
    this.#view = make();
    document.title = `${label} · Keelson console`;
    fill(this.main, this.#view.element);
    announce(label);
  }

  #go(id) {
    location.hash = link(id);
    this.main.focus();
  }

  #chosen() {
    this.namespace = this.namespaceBox.value;
    const parts = viewsOfKind.has(this.#shown)
      ? [this.#shown, this.kind.group || none, this.kind.plural, this.namespace || none]
      : [this.#shown];
    if (location.hash === link(...parts)) this.#view?.namespaceChanged?.();
    else location.hash = link(...parts);
  }

  #followNamespaces() {
    const kind = this.session.kinds.find(({ id }) => id === 'namespaces.');
    if (!kind) return;
    const changed = oncePerFrame(() => this.#drawNamespaces());
    const set = (entries) => {
      const before = this.#namespaces.size;
      entries.forEach(({ metadata }) => this.#namespaces.add(metadata.name));
      if (this.#namespaces.size !== before) changed();
    };
    this.namespaceInformer = new Informer(
      this.connection,
      { path: pathOf(kind), accept: asMetadata, listAccept: asMetadataList },
      {
        reset: () => {
          this.#namespaces.clear();
          changed();
        },
        objects: set,
        events: (events) => {
          for (const { type, entry } of events) {
            if (type !== 'DELETED') set([entry]);
            else if (this.#namespaces.delete(entry.metadata.name)) changed();
          }
        },
        state: (name) => name === 'failed' && this.#namespaces.size === 0 && this.#askNamespace(),
      },
    ).start();
  }

  #drawNamespaces() {
    const names = [...this.#namespaces].sort();
    if (this.namespace !== '' && !names.includes(this.namespace)) names.unshift(this.namespace);
    fill(
      this.namespaceBox,
      h('option', { value: '' }, 'All namespaces'),
      names.map((name) => h('option', { value: name }, name)),
    );
    this.namespaceBox.value = this.namespace;
  }

  /** Replaces the menu by a text field, for users who may not list namespaces. */
  #askNamespace() {
    const box = h('input', {
      id: 'namespace',
      placeholder: 'All namespaces',
      'aria-label': 'Namespace',
      onchange: () => this.#chosen(),
    });
    box.value = this.namespace;
    this.namespaceBox.replaceWith(box);
    this.namespaceBox = box;
  }
}
