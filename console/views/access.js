import { attributesOf, reviewAccess } from '../api/access-review.js';
import { decisionElement } from '../ui/decision.js';
import { field, fill, h } from '../ui/dom.js';
import { clockTime } from '../ui/time.js';

/** Answers why a request is allowed or not, for the user or another one, and lists the refusals of this session. */
export class AccessView {
  constructor(context) {
    this.context = context;
    const { session, kind, namespace, connection } = context;
    const input = (value, extra = {}) => {
      const box = h('input', { autocomplete: 'off', spellcheck: 'false', ...extra });
      box.value = value;
      return box;
    };
    this.verb = input('get');
    this.resource = input(kind ? [kind.plural, kind.group].filter(Boolean).join('.') : '', { list: 'resources' });
    this.namespace = input(namespace);
    this.name = input('');
    this.user = input('', { placeholder: session.user.name });
    this.groups = input('', { placeholder: 'devs, system:authenticated' });
    this.result = h('div', { 'aria-live': 'polite' });
    this.refusals = h('div', {});
    const submitted = (event) => {
      event.preventDefault();
      void this.#ask();
    };
    this.element = h(
      'div',
      { class: 'page' },
      h('h1', { class: 'view-title' }, 'Why is it allowed, or not?'),
      h(
        'form',
        { class: 'form-row', onsubmit: submitted },
        field('Verb', this.verb),
        field('Resource or path', this.resource),
        field('Namespace', this.namespace),
        field('Name', this.name),
        field('Other user', this.user),
        field('Groups', this.groups),
        h('button', { type: 'submit', class: 'button primary' }, 'Explain'),
      ),
      h(
        'datalist',
        { id: 'resources' },
        session.kinds.map(({ plural, group }) => h('option', { value: [plural, group].filter(Boolean).join('.') })),
      ),
      this.result,
      h('h2', {}, 'Refused in this session'),
      this.refusals,
    );
    this.refused = () => this.#drawRefusals();
    connection.addEventListener('refused', this.refused);
    this.#drawRefusals();
  }

  stop() {
    this.context.connection.removeEventListener('refused', this.refused);
  }

  #attributes() {
    const resource = this.resource.value.trim();
    const verb = this.verb.value.trim();
    if (resource.startsWith('/')) return { nonResourceAttributes: { path: resource, verb } };
    const [plural, ...group] = resource.split('.');
    const [base, subresource = ''] = plural.split('/');
    return {
      resourceAttributes: {
        group: group.join('.'),
        version: '*',
        resource: base,
        subresource,
        namespace: this.namespace.value.trim(),
        name: this.name.value.trim(),
        verb,
      },
    };
  }

  async #ask(attributes = this.#attributes()) {
    const { session } = this.context;
    const name = this.user.value.trim();
    const groups = this.groups.value.split(',').map((one) => one.trim()).filter(Boolean); // prettier-ignore
    const other = name === '' ? undefined : { name, groups };
    const { resourceAttributes: one, nonResourceAttributes: path } = attributes;
    const what = path ? path.path : [one.resource, one.group].filter(Boolean).join('.');
    const place = one?.namespace ? `in ${one.namespace}` : '';
    const words = [other?.name ?? session.user.name, (path ?? one).verb, what, one?.name, place];
    const title = words.filter(Boolean).join(' ');
    try {
      fill(this.result, decisionElement(title, await reviewAccess(session, attributes, { other, isExplained: true })));
    } catch (error) {
      fill(this.result, h('p', { class: 'problem', role: 'alert' }, error.message));
    }
  }

  #drawRefusals() {
    const { connection, session } = this.context;
    fill(
      this.refusals,
      connection.refusals.length === 0
        ? h('p', { class: 'hint' }, 'None so far.')
        : h(
            'ul',
            { class: 'plain refusals' },
            connection.refusals.map(({ method, path, message, at }) =>
              h(
                'li',
                {},
                h('span', { class: 'muted mono' }, `${clockTime(at)} ${method} `),
                message,
                ' ',
                h(
                  'button',
                  {
                    type: 'button',
                    class: 'button small',
                    onclick: () => void this.#ask(attributesOf(method, path, session.kinds)),
                  },
                  'Why?',
                ),
              ),
            ),
          ),
    );
  }
}
