import { h } from './dom.js';

/** Shows the decision of a review, and why: authorizers, binding, role and rule, or the rule that is missing. */
export function decisionElement(title, { allowed, denied, reason, evaluationError, explanation }) {
  return h(
    'div',
    { class: 'decision', 'data-tone': allowed ? 'good' : 'bad' },
    h(
      'p',
      { class: 'decision-title' },
      h('strong', {}, allowed ? 'Allowed' : denied ? 'Denied' : 'Not allowed'),
      ` ${title}`,
    ),
    reason === '' ? null : h('p', {}, reason),
    evaluationError === '' ? null : h('p', { class: 'muted' }, evaluationError),
    explanation ? explained(explanation, allowed) : null,
  );
}

function explained({ authorizers = [], requiredRule }, allowed) {
  return [
    h(
      'table',
      { class: 'table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Authorizer', 'Decision', 'Reason'].map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        authorizers.map(({ name, decision, reason = '', grant }) =>
          h(
            'tr',
            {},
            h('td', {}, name),
            h('td', { 'data-tone': { allow: 'good', deny: 'bad' }[decision] }, decision),
            h('td', {}, grant ? grantElement(grant) : reason),
          ),
        ),
      ),
    ),
    allowed || requiredRule === undefined
      ? null
      : h(
          'div',
          {},
          h('h3', {}, 'The smallest rule that would allow it'),
          h('pre', { class: 'mono block', tabindex: '0' }, ruleText(requiredRule)),
        ),
  ];
}

/** Prints a rule with one list a line. */
const ruleText = (rule) =>
  Object.entries(rule)
    .map(([name, values]) => `${name}: ${JSON.stringify(values)}`)
    .join('\n');

function grantElement(grant) {
  return h(
    'dl',
    { class: 'grant' },
    Object.entries(grant).map(([name, value]) => [
      h('dt', {}, name),
      h('dd', { class: 'mono lines' }, grantText(value)),
    ]),
  );
}

/** Prints a reference as `Role shop/reader`, a rule as its lists. */
function grantText(value) {
  if (typeof value === 'string') return value;
  if (typeof value?.name === 'string')
    return `${value.kind ?? ''} ${[value.namespace, value.name].filter(Boolean).join('/')}`;
  return ruleText(value ?? {});
}
