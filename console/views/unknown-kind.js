import { fill, h } from '../ui/dom.js';

/**
 * Stands in for the view of a kind that the server did not have when the kinds were read. `readAgain()` reads them, and
 * resolves with true if that has shown the view.
 */
export function unknownKind(name, readAgain) {
  const element = h('section', { class: 'page' });
  const look = async () => {
    fill(element, h('p', { class: 'hint' }, `Looking for ${name}…`));
    let problem = `The server has no kind ${name}, or you may not see it.`;
    try {
      if (await readAgain()) return;
    } catch (error) {
      problem = error.message;
    }
    fill(
      element,
      h('p', { class: 'notice', role: 'alert' }, problem),
      h('button', { type: 'button', class: 'button', onclick: () => void look() }, 'Look again'),
    );
  };
  void look();
  return { element, stop: () => undefined };
}
