import { announce, field, fill, h, nextId } from '../ui/dom.js';

const policies = {
  Background: 'in the background (default)',
  Foreground: 'before the object',
  Orphan: 'not at all: they stay without an owner',
};

/** Asks whether to delete an object, and what becomes of the objects that it owns. Only this very object is deleted. */
export function deleteDialog({ connection, path, kind, name, namespace, object }) {
  const titleId = nextId('title');
  const problem = h('p', { class: 'problem', role: 'alert' });
  const policy = h(
    'select',
    {},
    Object.entries(policies).map(([value, text]) => h('option', { value }, text)),
  );
  const send = async () => {
    const uid = object?.metadata?.uid;
    const body = { propagationPolicy: policy.value, ...(uid === undefined ? {} : { preconditions: { uid } }) };
    try {
      await connection.text(path, { method: 'DELETE', body });
      announce(`Deleted ${name}`);
      dialog.close();
    } catch (error) {
      const unknown = error.isUnanswered ? ' It is not known whether the object was deleted.' : '';
      fill(problem, `${error.message}${unknown}`);
    }
  };
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-labelledby': titleId, onclose: () => dialog.remove() },
    h('h2', { id: titleId }, `Delete ${kind.kind} ${name}${namespace === '' ? '' : ` in ${namespace}`}?`),
    field('Objects that it owns are deleted', policy),
    problem,
    h(
      'div',
      { class: 'dialog-buttons' },
      h('button', { type: 'button', class: 'button', autofocus: true, onclick: () => dialog.close() }, 'Cancel'),
      h('button', { type: 'button', class: 'button danger', onclick: () => void send() }, 'Delete'),
    ),
  );
  return dialog;
}
