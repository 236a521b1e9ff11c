import { fill, h } from '../ui/dom.js';
import { objectLink } from '../ui/route.js';
import { age } from '../ui/time.js';

const eventsMax = 20;
/** Browsers lay out all elements, and all of their texts: the rest is in the other tabs. */
const itemsMax = 50;
const charactersMax = 2_000;

/** Shows metadata, owners, conditions and Events of the object. */
export function overviewTab(detail) {
  const events = h('div', {});
  const facts = h('div', {});
  const element = h('div', { class: 'scroll pad' }, facts, events);
  const update = (object) => fill(facts, factsOf(object, detail));
  update(detail.object);
  void eventsOf(detail).then((list) => fill(events, list));
  return { element, update };
}

function factsOf(object, { context }) {
  const metadata = object.metadata ?? {};
  const row = (name, value) => (value === undefined || value === '' ? null : [h('dt', {}, name), h('dd', {}, value)]);
  return [
    h(
      'dl',
      { class: 'facts' },
      row('API version', object.apiVersion),
      row(
        'Created',
        metadata.creationTimestamp && `${metadata.creationTimestamp} (${age(metadata.creationTimestamp)})`,
      ),
      row('Deletion', metadata.deletionTimestamp),
      row('Revision', h('span', { class: 'mono' }, metadata.resourceVersion ?? '')),
      row('Generation', metadata.generation === undefined ? undefined : String(metadata.generation)),
      row('UID', h('span', { class: 'mono' }, metadata.uid ?? '')),
      row('Finalizers', finalizers(items(metadata.finalizers))),
      row('Owners', owners(metadata, context)),
    ),
    pairs('Labels', metadata.labels),
    pairs('Annotations', metadata.annotations),
    conditions(items(object.status?.conditions).filter(isMap)),
  ];
}

// Custom kinds may have anything in their status.
const items = (value) => (Array.isArray(value) ? value : []);
const isMap = (value) => typeof value === 'object' && value !== null;

const finalizers = (all) => (all.length === 0 ? '' : [all.slice(0, itemsMax).join(', '), more(all)]);

/** Says how many items are not shown. */
const more = ({ length }) =>
  length > itemsMax
    ? h('p', { class: 'hint' }, `and ${(length - itemsMax).toLocaleString()} more, in YAML & owners`)
    : null;

function shortened(text) {
  if (text.length <= charactersMax) return text;
  return [
    text.slice(0, charactersMax),
    h('span', { class: 'muted' }, ` ⋯ ${(text.length - charactersMax).toLocaleString()} more characters`),
  ];
}

function owners({ ownerReferences, namespace = '' }, { session }) {
  const references = items(ownerReferences).filter(isMap);
  if (references.length === 0) return undefined;
  const list = h(
    'ul',
    { class: 'plain' },
    references.slice(0, itemsMax).map(({ apiVersion = '', kind, name, controller }) => {
      const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
      const found = session.kinds.find((one) => one.kind === kind && one.group === group);
      const text = `${kind}/${name}`;
      const place = found?.isNamespaced ? namespace : '';
      return h(
        'li',
        {},
        found ? h('a', { href: objectLink(found, place, String(name)) }, text) : text,
        controller ? h('span', { class: 'muted' }, ' controller') : null,
      );
    }),
  );
  return [list, more(references)];
}

function pairs(title, values) {
  const entries = Object.entries(values ?? {});
  if (entries.length === 0) return null;
  return h(
    'section',
    {},
    h('h3', {}, title),
    h(
      'ul',
      { class: 'pairs' },
      entries
        .slice(0, itemsMax)
        .map(([key, value]) =>
          h(
            'li',
            {},
            h('span', { class: 'pair-key' }, key),
            h('span', { class: 'pair-value' }, shortened(String(value))),
          ),
        ),
    ),
    more(entries),
  );
}

function conditions(list) {
  if (list.length === 0) return null;
  const toneOf = (status) => ({ True: 'good', False: 'bad' })[status] ?? 'wait';
  return h(
    'section',
    {},
    h('h3', {}, 'Conditions'),
    h(
      'table',
      { class: 'table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Type', 'Status', 'Reason', 'Since'].map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        list
          .slice(0, itemsMax)
          .map(({ type, status, reason = '', message = '', lastTransitionTime = '' }) =>
            h(
              'tr',
              { title: message },
              h('td', {}, type),
              h('td', { 'data-tone': toneOf(status) }, status),
              h('td', {}, reason),
              h('td', {}, age(lastTransitionTime)),
            ),
          ),
      ),
    ),
    more(list),
  );
}

/** Reads the Events about the object; nothing if the user may not. */
async function eventsOf({ connection, object, namespace }) {
  const uid = object.metadata?.uid;
  if (!uid) return null;
  const query = new URLSearchParams({ fieldSelector: `involvedObject.uid=${uid}`, limit: String(eventsMax) });
  const place = encodeURIComponent(namespace || 'default');
  try {
    const { items = [] } = await connection.json(`/api/v1/namespaces/${place}/events?${query}`);
    if (items.length === 0) return null;
    return h(
      'section',
      {},
      h('h3', {}, 'Events'),
      h(
        'ul',
        { class: 'plain events' },
        items.map(({ type, reason, message, lastTimestamp, eventTime, count }) =>
          h(
            'li',
            {},
            h('span', { class: 'badge', 'data-tone': type === 'Warning' ? 'bad' : 'good' }, reason ?? type),
            ` ${message ?? ''} `,
            h('span', { class: 'muted' }, `${age(lastTimestamp ?? eventTime)}${count > 1 ? ` ×${count}` : ''}`),
          ),
        ),
      ),
    );
  } catch {
    return null;
  }
}
