import { objectAt } from '../api/past.js';
import { printJson } from '../api/json.js';
import { fieldChanges } from '../model/field-changes.js';
import { writersBetween } from '../model/field-owners.js';
import { inSlices } from '../model/slices.js';
import { yamlLineSteps, yamlText } from '../model/yaml-lines.js';
import { fill, h, nextId } from '../ui/dom.js';
import { age } from '../ui/time.js';
import { withoutManagedFields } from './fields-tab.js';

const revisionsAtOnce = 20;
const changesMax = 200;
const valueLengthMax = 400;
/** Browsers lay out all of a text, also what is not visible. */
const stateLengthMax = 50_000;

/**
 * The retained revisions of the object, the latest first: which manager changed which fields, and when. Each state is read
 * at the revision before the next, so that every server can tell it, as far back as it retains its states.
 */
export function historyTab(detail) {
  const { connection, kind, namespace, name } = detail;
  const abort = new AbortController();
  const at = (revision) => objectAt(connection, kind, { namespace, name }, revision, abort.signal);
  const list = h('ol', { class: 'revisions', 'aria-label': 'Revisions of the object, the latest first' });
  const status = h('p', { class: 'hint', role: 'status' });
  const more = h('button', { type: 'button', class: 'button', onclick: () => void readMore() }, 'Earlier revisions');
  const newer = h(
    'button',
    { type: 'button', class: 'button', hidden: true, onclick: () => void begin() },
    'The object has changed: show the later revisions',
  );
  /** The earliest state that was read; the one before it decides what its revision has changed. */
  let state;
  let latest = '';

  const begin = () => {
    state = detail.object;
    latest = state.metadata?.resourceVersion;
    newer.hidden = true;
    fill(list);
    return readMore();
  };
  const readMore = async () => {
    more.disabled = newer.disabled = true;
    status.textContent = 'Reading…';
    try {
      for (let count = 0; state && count < revisionsAtOnce; count++) state = await readRevision(state);
      if (state) status.textContent = '';
    } catch (error) {
      if (!abort.signal.aborted) fill(status, error.message);
    }
    more.hidden = state === undefined;
    more.disabled = newer.disabled = false;
  };
  /** Adds the revision of a state, and returns the state before it; undefined if there is none, or none is retained. */
  const readRevision = async (after) => {
    const version = after.metadata?.resourceVersion ?? '';
    if (!/^\d+$/.test(version)) throw new Error('The revisions of this server are no numbers: it has no history.');
    let before;
    try {
      if (BigInt(version) > 1n) before = await at(BigInt(version) - 1n);
    } catch (error) {
      if (error.status !== 410) throw error;
      list.append(revisionElement({ after, change: 'existed' }, at));
      status.textContent = `The server does not retain the states before revision ${version}: what it changed is not known.`;
      return undefined;
    }
    // An object of this name may have been deleted before.
    const isSame = before !== undefined && before.metadata?.uid === after.metadata?.uid;
    list.append(
      revisionElement({ after, before: isSame ? before : undefined, change: isSame ? 'changed' : 'created' }, at),
    );
    if (!isSame) status.textContent = 'The object was created with this revision.';
    return isSame ? before : undefined;
  };

  void begin();
  return {
    element: h('div', { class: 'scroll pad history' }, newer, list, status, more),
    update: (object) => (newer.hidden = object.metadata?.resourceVersion === latest),
    stop: () => abort.abort(),
  };
}

const tones = { created: 'good', changed: 'wait' };

/** Draws a revision: its line opens the changes. The state itself is read again if the user wants it. */
function revisionElement({ after, before, change }, at) {
  const { resourceVersion, creationTimestamp = '' } = after.metadata;
  const writers = writersBetween(before, after);
  const time =
    writers
      .map((writer) => writer.time)
      .sort()
      .at(-1) || (before ? '' : creationTimestamp);
  const changes = before ? fieldChanges(comparable(before), comparable(after)) : [];
  const bodyId = nextId('revision');
  const body = h('div', { class: 'revision-body', id: bodyId, hidden: true });
  const count = changes.length === 1 ? '1 field' : `${changes.length} fields`;
  const head = h(
    'button',
    {
      type: 'button',
      class: 'revision-head',
      'aria-expanded': 'false',
      'aria-controls': bodyId,
      onclick: () => {
        if (!body.hasChildNodes()) fill(body, changesElement(changes), stateElement(resourceVersion, at));
        body.hidden = !body.hidden;
        head.setAttribute('aria-expanded', String(!body.hidden));
      },
    },
    h('span', { class: 'mono' }, resourceVersion),
    h('span', { class: 'badge', 'data-tone': tones[change] }, change === 'changed' ? count : change),
    h('span', { class: 'revision-writers' }, writers.map(({ label }) => label).join(', ') || 'manager unknown'),
    h('span', { class: 'muted', title: time }, time === '' ? '' : age(time)),
  );
  return h('li', { class: 'past-revision' }, head, body);
}

function changesElement(changes) {
  if (changes.length === 0) return null;
  return h(
    'ul',
    { class: 'plain mono changes' },
    changes
      .slice(0, changesMax)
      .map(({ path, before, after }) =>
        h(
          'li',
          {},
          h('span', { class: 'change-path' }, path),
          valueElement('removed', before),
          valueElement('added', after),
        ),
      ),
    changes.length > changesMax ? h('li', { class: 'muted' }, `and ${changes.length - changesMax} more`) : null,
  );
}

function valueElement(type, value) {
  if (value === undefined) return null;
  const text = printJson(value);
  const shown = text.length > valueLengthMax ? `${text.slice(0, valueLengthMax)}…` : text;
  const sign = type === 'added' ? '+' : '-';
  return h(
    'span',
    { class: `change-value is-${type}` },
    h('span', { 'aria-hidden': 'true' }, `${sign} `),
    h('span', { class: 'visually-hidden' }, `${type}: `),
    shown,
  );
}

/** A button that shows the object as it was. */
function stateElement(revision, at) {
  const place = h('div', { 'aria-live': 'polite' });
  const show = async () => {
    button.disabled = true;
    try {
      const object = await at(revision);
      if (!object) return fill(place, h('p', { class: 'hint' }, 'The object did not exist.'));
      const text = yamlText(await inSlices(yamlLineSteps(withoutManagedFields(object))));
      const shown = text.slice(0, stateLengthMax);
      const hidden = text.length - shown.length;
      fill(
        place,
        h('pre', { class: 'mono block', tabindex: '0', 'aria-label': `Revision ${revision}` }, shown),
        hidden > 0 ? h('p', { class: 'hint' }, `${hidden.toLocaleString()} more characters`) : null,
      );
    } catch (error) {
      const problem = error.status === 410 ? `The server no longer retains revision ${revision}.` : error.message;
      fill(place, h('p', { class: 'problem', role: 'alert' }, problem));
    } finally {
      button.disabled = false;
    }
  };
  const button = h('button', { type: 'button', class: 'button small', onclick: () => void show() }, 'Show this state');
  return [button, place];
}

/** Leaves out what lists do not have, and what every write changes. */
function comparable({ apiVersion: _apiVersion, kind: _kind, ...object }) {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}
