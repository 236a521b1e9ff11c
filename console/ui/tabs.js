import { fill, h, nextId } from './dom.js';

/**
 * Tabs with one panel: arrow keys move between them, as the ARIA pattern says. `tabs` is [{ id, label, make }]; make()
 * returns { element, stop?() } when the tab is selected.
 */
export class Tabs {
  #buttons = new Map();
  #shown;

  constructor({ label, tabs, selected, changed }) {
    this.tabs = tabs;
    this.changed = changed;
    const panelId = nextId('panel');
    this.panel = h('div', { class: 'tab-panel', role: 'tabpanel', id: panelId, tabindex: '-1' });
    const list = h('div', { class: 'tab-list', role: 'tablist', 'aria-label': label });
    for (const { id, label: text } of tabs) {
      const button = h(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: nextId('tab'),
          class: 'tab',
          'data-tab': id,
          'aria-controls': panelId,
          onclick: () => this.select(id),
          onkeydown: (event) => this.#pressed(event, id),
        },
        text,
      );
      this.#buttons.set(id, button);
      list.append(button);
    }
    this.element = h('div', { class: 'tabs' }, list, this.panel);
    this.select(selected ?? tabs[0].id, { isFirst: true });
  }

  select(id, { isFirst = false, focus = false } = {}) {
    if (this.selected === id) return;
    this.selected = id;
    for (const [one, button] of this.#buttons) {
      button.setAttribute('aria-selected', String(one === id));
      button.tabIndex = one === id ? 0 : -1;
    }
    this.#shown?.stop?.();
    this.#shown = this.tabs.find((tab) => tab.id === id).make();
    this.panel.setAttribute('aria-labelledby', this.#buttons.get(id).id);
    fill(this.panel, this.#shown.element);
    if (focus) this.#buttons.get(id).focus();
    if (!isFirst) this.changed?.(id);
  }

  /** Passes a changed object on to the selected tab. */
  update(...values) {
    this.#shown?.update?.(...values);
  }

  stop() {
    this.#shown?.stop?.();
  }

  #pressed(event, id) {
    const ids = this.tabs.map((tab) => tab.id);
    const at = ids.indexOf(id);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.select(ids[(to + ids.length) % ids.length], { focus: true });
  }
}
