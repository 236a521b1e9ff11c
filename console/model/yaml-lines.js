import { ownersOfField, ownersOfItem } from './field-owners.js';

const plain = /^[A-Za-z_/][\w./-]*( [\w./-]+)*$/;
const reserved = /^(true|false|null|yes|no|on|off|y|n|~)$/i;

/** Returns a YAML scalar; texts that could be read as another type are quoted. */
function scalar(value) {
  if (typeof value !== 'string') return String(value);
  return plain.test(value) && !reserved.test(value) ? value : JSON.stringify(value);
}

/** True for texts that a block prints exactly. Spaces at its beginning and more newlines at its end have other meanings. */
const isBlock = (value) =>
  value.includes('\n') &&
  /^[^\s#]/.test(value) &&
  !/\n\n$|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/.test(value);

const isEmpty = (value) => (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);
const isStructure = (value) => typeof value === 'object' && value !== null;

/**
 * Prints an object as lines of YAML: [{ indent, key, text, type, owners }]. `owned` are the managers' field sets, see
 * field-owners.js; `owners` of a line are the managers that own its field.
 */
export function yamlLines(object, owned = []) {
  const lines = [];
  printFields(lines, object, owned, 0, false);
  return lines;
}

/** Prints fields at a column. The first one of a list item begins two columns before it, with a dash. */
function printFields(lines, object, owned, column, isItem) {
  let hasDash = isItem;
  for (const [name, value] of Object.entries(object)) {
    const key = `${scalar(name)}:`;
    const at = hasDash ? { indent: column - 2, key: `- ${key}`, column } : { indent: column, key, column };
    printValue(lines, value, ownersOfField(owned, name), at);
    hasDash = false;
  }
}

function printValue(lines, value, { below, owners }, { indent, key, column }) {
  if (typeof value === 'string' && isBlock(value)) {
    const hasEnd = value.endsWith('\n');
    lines.push({ indent, key, text: hasEnd ? '|' : '|-', type: 'empty', owners });
    for (const text of (hasEnd ? value.slice(0, -1) : value).split('\n')) {
      lines.push({ indent: column + 2, key: '', text, type: 'string', owners });
    }
  } else if (!isStructure(value)) {
    lines.push({ indent, key, text: scalar(value), type: value === null ? 'empty' : typeof value, owners });
  } else if (isEmpty(value)) {
    lines.push({ indent, key, text: Array.isArray(value) ? '[]' : '{}', type: 'empty', owners });
  } else {
    lines.push({ indent, key, text: '', type: 'parent', owners });
    if (Array.isArray(value)) printItems(lines, value, below, column);
    else printFields(lines, value, below, column + 2, false);
  }
}

function printItems(lines, items, owned, column) {
  items.forEach((item, index) => {
    const itemOwners = ownersOfItem(owned, item, index);
    const isMap = isStructure(item) && !Array.isArray(item) && !isEmpty(item);
    if (isMap) printFields(lines, item, itemOwners.below, column + 2, true);
    else printValue(lines, item, itemOwners, { indent: column, key: '-', column: column + 2 });
  });
}

/** Returns the text of the lines, for copying. */
export const yamlText = (lines) =>
  lines.map(({ indent, key, text }) => `${' '.repeat(indent)}${[key, text].filter(Boolean).join(' ')}`).join('\n');
