import { tryJson } from '../api/json.js';
import { withoutManagedFields } from './fields-tab.js';
import { fill, h } from '../ui/dom.js';

/**
 * Runs admission for the object as a dry run with the header Keelson-Explain, and lists the steps. Other servers ignore
 * the header and answer with the object.
 */
export function admissionTab(detail) {
  const { connection, path } = detail;
  const operation = h(
    'select',
    { 'aria-label': 'Operation' },
    h('option', { value: 'PUT' }, 'update'),
    h('option', { value: 'POST' }, 'create'),
    h('option', { value: 'DELETE' }, 'delete'),
  );
  const result = h('div', { class: 'scroll pad', 'aria-live': 'polite' });
  const run = h(
    'button',
    { type: 'button', class: 'button primary', onclick: () => void explain() },
    'Explain admission',
  );
  const explain = async () => {
    run.disabled = true;
    const method = operation.value;
    try {
      const target = method === 'POST' ? path.slice(0, path.lastIndexOf('/')) : path;
      const response = await connection.send(`${target}?dryRun=All`, {
        method,
        headers: { 'Keelson-Explain': 'admission' },
        body: method === 'DELETE' ? undefined : bodyFor(method, await connection.json(path)),
      });
      const explanation = tryJson(await response.text());
      fill(
        result,
        explanation?.kind === 'AdmissionExplanation' ? steps(explanation) : unexplained(response, explanation),
      );
    } catch (error) {
      fill(result, h('p', { class: 'problem', role: 'alert' }, error.message));
    } finally {
      run.disabled = false;
    }
  };
  fill(
    result,
    h(
      'p',
      { class: 'hint' },
      'Shows which plug-ins, policies and webhooks handle a write of this object. Nothing is stored.',
    ),
  );
  return {
    element: h(
      'div',
      { class: 'column' },
      h('div', { class: 'toolbar' }, operation, h('span', { class: 'spacer' }), run),
      result,
    ),
  };
}

/** A create gets a new name, so that the existing object is not the reason of a refusal. */
function bodyFor(method, object) {
  const copy = withoutManagedFields(object);
  if (method === 'PUT') return copy;
  const { resourceVersion: _version, uid: _uid, creationTimestamp: _time, ...metadata } = copy.metadata;
  return { ...copy, metadata: { ...metadata, name: `${String(metadata.name).slice(0, 40)}-console` } };
}

function unexplained(response, answer) {
  const message =
    response.status >= 400 ? (answer?.message ?? response.statusText) : 'This server does not explain admission.';
  return h('p', { class: 'problem', role: 'alert' }, message);
}

const tones = { changed: 'wait', refused: 'bad', passed: 'good' };

function steps({ code, steps: list = [], warnings = [], answer }) {
  const isOk = code < 400;
  return [
    h(
      'p',
      { class: isOk ? 'success' : 'problem', role: 'status' },
      isOk ? `Admitted: the answer would be ${code}.` : `Refused with ${code}: ${answer?.message ?? ''}`,
    ),
    warnings.map((text) => h('p', { class: 'notice' }, `Warning: ${text}`)),
    h('ol', { class: 'steps' }, list.map(stepElement)),
  ];
}

function stepElement(step) {
  const { plugin, step: phase, outcome, milliseconds = 0, parts = [] } = step;
  return h(
    'li',
    { class: 'step', 'data-tone': tones[outcome] },
    h(
      'div',
      { class: 'step-head' },
      h('strong', {}, plugin),
      h('span', { class: 'muted' }, phase),
      h('span', { class: 'badge', 'data-tone': tones[outcome] }, outcome),
      h('span', { class: 'spacer' }),
      h('span', { class: 'muted mono' }, `${Number(milliseconds).toFixed(1)} ms`),
    ),
    effect(step),
    parts.length === 0 ? null : h('ul', { class: 'parts' }, parts.map(partElement)),
  );
}

/** A policy or webhook of a step, or the reason for which it was not applied. */
function partElement(part) {
  const { kind = '', name = '', member, skipped, outcome = 'applied' } = part;
  const title = `${kind} ${name}${member ? ` (${member})` : ''}`;
  return h('li', {}, h('span', {}, title), `: ${skipped ? `not applied, ${skipped}` : outcome}`, effect(part));
}

function effect({ message, changes = [], areChangesCut }) {
  return [
    message ? h('p', { class: 'step-message' }, message) : null,
    changes.length === 0
      ? null
      : h(
          'ul',
          { class: 'plain mono changes' },
          changes.map(({ op, path, value }) =>
            h('li', {}, h('span', { class: 'muted' }, op), ` ${path} ${valueText(value)}`),
          ),
          areChangesCut ? h('li', { class: 'muted' }, 'and more') : null,
        ),
  ];
}

const valueText = (value) => (value === undefined ? '' : (JSON.stringify(value) ?? '').slice(0, 200));
