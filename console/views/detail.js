import { pathOf } from '../api/discovery.js';
import { fill, h } from '../ui/dom.js';
import { paneHead } from '../ui/pane-head.js';
import { Tabs } from '../ui/tabs.js';
import { accessTab } from './access-tab.js';
import { admissionTab } from './admission-tab.js';
import { deleteDialog } from './delete-dialog.js';
import { editTab } from './edit-tab.js';
import { fieldsTab } from './fields-tab.js';
import { historyTab } from './history-tab.js';
import { overviewTab } from './overview-tab.js';

const refreshMs = 250;
let lastTab = 'overview';

/** One object, with tabs. It is read again after each change that the list hears of. */
export class DetailPane {
  #object;
  #isDeleted = false;
  #timer;
  #abort = new AbortController();

  constructor(context, { kind, namespace, name }, close) {
    Object.assign(this, { context, kind, namespace, name });
    this.path = pathOf(kind, namespace, name);
    this.notice = h('p', { class: 'notice', role: 'alert', hidden: true });
    this.body = h('div', { class: 'detail-body' }, h('p', { class: 'loading' }, 'Reading…'));
    this.element = h(
      'div',
      { class: 'detail' },
      paneHead({
        kind,
        title: name,
        note: namespace,
        buttons: kind.verbs.has('delete')
          ? h('button', { type: 'button', class: 'button small', onclick: () => this.#delete() }, 'Delete')
          : null,
        closeLabel: 'Close the object',
        close,
      }),
      this.notice,
      this.body,
    );
    void this.#read();
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.#timer);
    this.tabs?.stop();
  }

  get connection() {
    return this.context.connection;
  }

  get object() {
    return this.#object;
  }

  /** Reads the object again soon; several changes are one read. */
  changed(type) {
    this.#isDeleted = type === 'DELETED';
    if (this.#isDeleted) return this.#say('This object has been deleted.');
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#read();
    }, refreshMs);
  }

  async #read() {
    try {
      this.#object = await this.connection.json(this.path, { signal: this.#abort.signal });
      if (!this.#isDeleted) this.#say('');
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      // That the server does not answer is said above the view.
      if (!this.#isDeleted && !(error.isUnanswered && this.tabs)) this.#say(error.message);
      if (this.#object === undefined) fill(this.body);
      return;
    }
    if (this.tabs) return this.tabs.update(this.#object);
    const tab = (id, label, make) => ({ id, label, make: () => make(this) });
    this.tabs = new Tabs({
      label: 'Views of the object',
      selected: lastTab === 'history' && !this.kind.verbs.has('list') ? 'overview' : lastTab,
      changed: (id) => (lastTab = id),
      tabs: [
        tab('overview', 'Overview', overviewTab),
        tab('fields', 'YAML & owners', fieldsTab),
        tab('edit', 'Edit', editTab),
        ...(this.kind.verbs.has('list') ? [tab('history', 'History', historyTab)] : []),
        tab('admission', 'Admission', admissionTab),
        tab('access', 'Access', accessTab),
      ],
    });
    fill(this.body, this.tabs.element);
  }

  #delete() {
    const dialog = deleteDialog(this);
    this.element.append(dialog);
    dialog.showModal();
  }

  #say(text) {
    this.notice.hidden = text === '';
    fill(this.notice, text);
  }
}
