import { h, nextId, oncePerFrame } from './dom.js';

const overscan = 8;

/**
 * A grid of any number of rows, of which only the visible ones exist. Arrow keys, Page Up and Down, Home and End move the
 * active row; Enter or a click opens it. Screen readers follow by aria-activedescendant.
 *
 * options: label, rowHeight, draw(element, index, isActive) which fills a row, open(index), expand(index, wanted)
 */
export class VirtualList {
  #count = 0;
  #active = 0;
  #pool = new Map();
  #prefix = nextId('row');

  constructor({ label, rowHeight = 30, draw, open, expand, role = 'grid', activeChanged }) {
    this.options = { rowHeight, draw, open, expand, activeChanged };
    this.spacer = h('div', { class: 'virtual-spacer', role: 'presentation' });
    this.element = h(
      'div',
      {
        class: 'virtual-list',
        role,
        tabindex: '0',
        'aria-label': label,
        onscroll: () => this.refresh(),
        onkeydown: (event) => this.#pressed(event),
        onclick: (event) => this.#clicked(event),
      },
      this.spacer,
    );
    this.refresh = oncePerFrame(() => this.#render());
    this.observer = new ResizeObserver(() => this.refresh());
    this.observer.observe(this.element);
  }

  stop() {
    this.observer.disconnect();
    this.refresh.cancel();
  }

  get active() {
    return this.#active;
  }

  /** Sets the number of rows; their content is drawn anew in the next frame. */
  setCount(count) {
    this.#count = count;
    this.#active = Math.max(0, Math.min(this.#active, count - 1));
    this.refresh();
  }

  /** Makes a row active and scrolls it into view. */
  activate(index, { scroll = true } = {}) {
    this.#active = Math.max(0, Math.min(index, this.#count - 1));
    if (scroll) {
      const { rowHeight } = this.options;
      const top = this.#active * rowHeight;
      const { scrollTop, clientHeight } = this.element;
      if (top < scrollTop) this.element.scrollTop = top;
      else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight;
    }
    this.options.activeChanged?.(this.#active);
    this.refresh();
  }

  #render() {
    const { rowHeight, draw } = this.options;
    const { scrollTop, clientHeight } = this.element;
    this.spacer.style.height = `${this.#count * rowHeight}px`;
    this.element.setAttribute('aria-rowcount', String(this.#count));
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
    const last = Math.min(this.#count, Math.ceil((scrollTop + clientHeight) / rowHeight) + overscan);
    const free = [];
    for (const [index, row] of this.#pool) {
      if (index >= first && index < last) continue;
      this.#pool.delete(index);
      free.push(row);
    }
    for (let index = first; index < last; index++) {
      let row = this.#pool.get(index);
      if (!row) {
        row = free.pop() ?? this.spacer.appendChild(h('div', { class: 'virtual-row', role: 'row' }));
        this.#pool.set(index, row);
        row.id = `${this.#prefix}-${index}`;
        row.dataset.index = String(index);
        row.style.transform = `translateY(${index * rowHeight}px)`;
        row.setAttribute('aria-rowindex', String(index + 1));
      }
      const isActive = index === this.#active;
      row.classList.toggle('is-active', isActive);
      draw(row, index, isActive);
    }
    free.forEach((row) => row.remove());
    if (this.#count > 0 && this.#pool.has(this.#active)) {
      this.element.setAttribute('aria-activedescendant', `${this.#prefix}-${this.#active}`);
    } else this.element.removeAttribute('aria-activedescendant');
  }

  #pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || this.#count === 0) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.activate(Math.max(0, Math.min(this.#count - 1, this.#active + moves[event.key])));
    else if (event.key === 'Enter') this.options.open?.(this.#active);
    else if (event.key === 'ArrowRight' && this.options.expand) this.options.expand(this.#active, true);
    else if (event.key === 'ArrowLeft' && this.options.expand) this.options.expand(this.#active, false);
    else return;
    event.preventDefault();
  }

  #clicked(event) {
    const row = event.target.closest('.virtual-row');
    if (!row) return;
    const index = Number(row.dataset.index);
    this.activate(index, { scroll: false });
    if (event.target.closest('[data-expander]')) this.options.expand?.(index);
    else this.options.open?.(index);
  }
}
