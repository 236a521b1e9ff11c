import { h } from './dom.js';

const isTyping = ({ target }) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Keyboard shortcuts: single keys, or `g` followed by a key. They do nothing while the user types, and can be switched
 * off. `shortcuts` is [{ keys, text, run }].
 */
export class Shortcuts {
  #pending = '';
  #timer;
  isOn = true;

  constructor(shortcuts) {
    this.shortcuts = shortcuts;
    this.listener = (event) => this.#pressed(event);
    document.addEventListener('keydown', this.listener);
    const toggle = h('input', { type: 'checkbox', id: 'shortcuts-on', checked: true });
    toggle.addEventListener('change', () => (this.isOn = toggle.checked));
    this.dialog = h(
      'dialog',
      { class: 'help', 'aria-labelledby': 'help-title' },
      h('h2', { id: 'help-title' }, 'Keyboard'),
      h(
        'dl',
        { class: 'keys' },
        [...shortcuts, ...everywhere].map(({ keys, text }) => [
          h(
            'dt',
            {},
            keys.split(' ').map((one) => h('kbd', {}, one)),
          ),
          h('dd', {}, text),
        ]),
      ),
      h('label', { class: 'check', for: 'shortcuts-on' }, toggle, 'Shortcuts of letters are on'),
      h('button', { type: 'button', class: 'button', onclick: () => this.dialog.close() }, 'Close'),
    );
  }

  showHelp() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  stop() {
    document.removeEventListener('keydown', this.listener);
    clearTimeout(this.#timer);
  }

  #pressed(event) {
    if (!this.isOn || event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || this.dialog.open) return;
    const keys = this.#pending === '' ? event.key : `${this.#pending} ${event.key}`;
    this.#pending = '';
    const found = this.shortcuts.find((one) => one.keys === keys);
    if (found) {
      event.preventDefault();
      found.run();
    } else if (this.shortcuts.some((one) => one.keys.startsWith(`${event.key} `))) {
      this.#pending = event.key;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => (this.#pending = ''), 1500);
    }
  }
}

const everywhere = [
  { keys: '↑ ↓', text: 'Move in a list' },
  { keys: 'Enter', text: 'Open the selected object' },
  { keys: '← →', text: 'Collapse and expand owners; move between tabs' },
  { keys: 'Esc', text: 'Close the object' },
];
