// Characters that are not visible, or change the direction of the text after them: a name could look like another one.
// Spaces, line breaks, tabs and the joiners of scripts and emoji are not among them.

import { countLines } from './text-parts.js';

const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const hasHidden = (text) => text.search(hidden) >= 0;

const escaped = (character) => {
  const code = character.codePointAt(0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
};

/** Each piece is an element: a text of hidden characters only would be thousands. */
const piecesMax = 200;

/** Returns the text in pieces: [{ text, isHidden }], with the hidden characters as escapes. */
export function visiblePieces(text) {
  if (!hasHidden(text)) return [{ text, isHidden: false }];
  const pieces = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (pieces.length >= piecesMax) break;
    if (index > at) pieces.push({ text: text.slice(at, index), isHidden: false });
    pieces.push({ text: escaped(character), isHidden: true });
    at = index + character.length;
  }
  if (at < text.length) pieces.push({ text: visibleText(text.slice(at)), isHidden: false });
  return pieces;
}

/** Returns the text with escapes instead of hidden characters. */
export const visibleText = (text) => text.replace(hidden, escaped);

/** Returns the first hidden character, as an escape, and its line; undefined without any. */
export function firstHidden(text) {
  const at = text.search(hidden);
  if (at < 0) return undefined;
  const character = String.fromCodePoint(text.codePointAt(at));
  return { escape: escaped(character), line: countLines(text.slice(0, at)) + 1 };
}
