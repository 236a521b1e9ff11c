// Creation of elements. Texts always become text nodes: no text of the server is ever parsed as markup, and characters that
// are not visible are shown as escapes.

import { visiblePieces, visibleText } from '../model/hidden-characters.js';

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Sets attributes and, for names that begin with `on`, listeners. False, null and undefined set nothing. */
function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function' && name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (typeof value !== 'function' && !name.startsWith('on')) {
      const text = value === true ? '' : String(value);
      element.setAttribute(name, name === 'title' || name === 'aria-label' ? visibleText(text) : text);
    }
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    if (child instanceof Node) element.append(child);
    else visiblePieces(String(child)).forEach((piece) => element.append(pieceNode(element, piece)));
  }
}

function pieceNode(element, { text, isHidden }) {
  if (!isHidden || element.namespaceURI === svgNamespace) return document.createTextNode(text);
  const mark = document.createElement('span');
  mark.className = 'hidden-character';
  mark.title = 'A character that is not visible';
  mark.textContent = text;
  return mark;
}

/** Creates an HTML element: h('p', { class: 'note' }, 'text', otherElement). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  setProperties(element, properties);
  append(element, children);
  return element;
}

/** Creates an SVG element. */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS(svgNamespace, tag);
  setProperties(element, properties);
  append(element, children);
  return element;
}

/** Replaces the content of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Reads a text aloud in screen readers. */
export function announce(text) {
  const announcer = document.getElementById('announcer');
  if (announcer) fill(announcer, text);
}

let ids = 0;
export const nextId = (prefix) => `${prefix}-${++ids}`;

/** Returns a label around its control. */
export function field(label, control, hint) {
  control.id ||= nextId('field');
  const hintId = hint === undefined ? undefined : nextId('hint');
  if (hintId !== undefined) control.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    hint === undefined ? null : h('p', { class: 'hint', id: hintId }, hint),
  );
}

/** Returns a function that runs `work` once in the next frame, however often it is called until then. */
export function oncePerFrame(work) {
  let scheduled = 0;
  const schedule = () => {
    scheduled ||= requestAnimationFrame(() => {
      scheduled = 0;
      work();
    });
  };
  schedule.cancel = () => {
    cancelAnimationFrame(scheduled);
    scheduled = 0;
  };
  return schedule;
}
