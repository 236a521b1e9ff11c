import { countLines, isOversized, partsOf } from '../model/text-parts.js';
import { announce, h } from './dom.js';

/**
 * A text box for texts of any length. Of a long one it shows one part, with buttons for the others and a search through all
 * of them. `changed()` is called when the user types.
 */
export class TextEditor {
  #parts = [''];
  #shown = 0;

  constructor({ label, changed, pressed }) {
    this.box = h('textarea', {
      class: 'mono editor',
      'aria-label': label,
      spellcheck: 'false',
      autocomplete: 'off',
      wrap: 'off',
      oninput: () => {
        if (isOversized(this.box.value)) this.#splitAgain();
        changed();
      },
      onkeydown: pressed,
    });
    this.previous = this.#stepButton('‹', 'Previous part', -1);
    this.next = this.#stepButton('›', 'Next part', 1);
    this.position = h('span', { class: 'hint text-position' });
    this.search = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Find in all parts',
      'aria-label': 'Find in all parts',
      onkeydown: (event) => {
        if (event.key !== 'Enter') return;
        // The key would replace what is found.
        event.preventDefault();
        this.#find();
      },
    });
    this.bar = h(
      'div',
      { class: 'toolbar text-parts', role: 'group', 'aria-label': 'Parts of the text', hidden: true },
      this.previous,
      this.position,
      this.next,
      h('span', { class: 'spacer' }),
      this.search,
      h('button', { type: 'button', class: 'button small', onclick: () => this.#find() }, 'Find next'),
    );
    this.elements = [this.bar, this.box];
  }

  get value() {
    return this.#current().join('');
  }

  set value(text) {
    this.#parts = partsOf(text);
    this.#show(0);
  }

  /** True if the text is another one. Long texts are joined only if their length is the same. */
  isOtherThan(text) {
    const length = this.#current().reduce((sum, part) => sum + part.length, 0);
    return length !== text.length || this.value !== text;
  }

  set readOnly(value) {
    this.box.readOnly = value;
  }

  /** Returns the parts, with what the user has typed. */
  #current() {
    this.#parts[this.#shown] = this.box.value;
    return this.#parts;
  }

  #stepButton(text, name, by) {
    const step = () => {
      this.#current();
      this.#show(this.#shown + by);
      announce(this.position.textContent);
    };
    return h('button', { type: 'button', class: 'button small', 'aria-label': name, onclick: step }, text);
  }

  /** Shows a part with a selection, its beginning without one. */
  #show(index, begin = 0, end = begin) {
    this.#shown = index;
    const part = this.#parts[index];
    this.box.value = part;
    this.box.setSelectionRange(begin, end);
    const lineHeight = this.box.scrollHeight / (countLines(part) + 1);
    this.box.scrollTop = Math.max(0, countLines(part.slice(0, begin)) * lineHeight - this.box.clientHeight / 2);
    this.box.scrollLeft = 0;
    this.bar.hidden = this.#parts.length === 1;
    this.previous.disabled = index === 0;
    this.next.disabled = index === this.#parts.length - 1;
    const before = this.#parts.slice(0, index).reduce((sum, one) => sum + countLines(one), 0);
    const lines = `lines ${before + 1}–${before + countLines(part) + (part.endsWith('\n') ? 0 : 1)}`;
    this.position.textContent = `Part ${index + 1} of ${this.#parts.length}, ${lines}`;
  }

  /** Selects the next place of the searched text after the selection, from the beginning of the text after the last one. */
  #find() {
    const wanted = this.search.value;
    if (wanted === '') return;
    const text = this.value;
    const before = this.#parts.slice(0, this.#shown).reduce((sum, part) => sum + part.length, 0);
    let at = text.indexOf(wanted, before + this.box.selectionEnd);
    if (at < 0) at = text.indexOf(wanted);
    if (at < 0) return announce(`${wanted} is not in the text`);
    this.#showAt(at, wanted.length);
    this.box.focus();
    announce(this.position.textContent);
  }

  /** Shows the part with a position of the text. What is selected beyond its end is in the next part. */
  #showAt(position, length = 0) {
    let index = 0;
    let begin = position;
    while (index < this.#parts.length - 1 && begin >= this.#parts[index].length) begin -= this.#parts[index++].length;
    this.#show(index, begin, Math.min(begin + length, this.#parts[index].length));
  }

  /** Splits the text anew, after much text was inserted into a part. */
  #splitAgain() {
    const before = this.#parts.slice(0, this.#shown).reduce((sum, part) => sum + part.length, 0);
    const position = before + this.box.selectionEnd;
    this.#parts = partsOf(this.value);
    this.#showAt(position);
  }
}
