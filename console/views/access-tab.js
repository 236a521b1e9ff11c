import { reviewAccess } from '../api/access-review.js';
import { decisionElement } from '../ui/decision.js';
import { fill, h } from '../ui/dom.js';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/** Shows what the user may do with the object, and why. */
export function accessTab(detail) {
  const { kind, namespace, name, context } = detail;
  const why = h('div', { 'aria-live': 'polite' });
  const attributes = (verb) => ({
    resourceAttributes: {
      group: kind.group,
      version: kind.version,
      resource: kind.plural,
      namespace,
      name: verb === 'create' || verb === 'list' || verb === 'watch' ? '' : name,
      verb,
    },
  });
  const explain = async (verb) => {
    const title = `${context.session.user.name} ${verb} ${kind.plural}${namespace === '' ? '' : ` in ${namespace}`}`;
    try {
      fill(why, decisionElement(title, await reviewAccess(context.session, attributes(verb), { isExplained: true })));
    } catch (error) {
      fill(why, h('p', { class: 'problem', role: 'alert' }, error.message));
    }
  };
  const cells = verbs.map((verb) => {
    const answer = h('span', { class: 'badge' }, '…');
    reviewAccess(context.session, attributes(verb)).then(
      ({ allowed }) => {
        answer.textContent = allowed ? 'allowed' : 'not allowed';
        answer.dataset.tone = allowed ? 'good' : 'bad';
      },
      (error) => fill(answer, error.message),
    );
    const button = h('button', { type: 'button', class: 'button small', onclick: () => void explain(verb) }, 'Why?');
    button.setAttribute('aria-label', `Why ${verb}?`);
    return h('tr', {}, h('th', { scope: 'row' }, verb), h('td', {}, answer), h('td', {}, button));
  });
  return {
    element: h(
      'div',
      { class: 'scroll pad' },
      h('p', { class: 'hint' }, `What ${context.session.user.name} may do with this object.`),
      h('table', { class: 'table' }, h('tbody', {}, cells)),
      why,
    ),
  };
}
