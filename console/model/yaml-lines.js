import { ownersOfField, ownersOfItem } from './field-owners.js';
import { atOnce } from './slices.js';

const plain = /^[A-Za-z_/][\w./-]*( [\w./-]+)*$/;
const reserved = /^(true|false|null|yes|no|on|off|y|n|~)$/i;
const fieldsAtOnce = 200;

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

const isStructure = (value) => typeof value === 'object' && value !== null;
const isEmpty = (value) => (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);

/**
 * Prints an object as lines of YAML: [{ indent, key, text, type, owners }]. `owned` are the managers' field sets, see
 * field-owners.js; `owners` of a line are the managers that own its field. A generator, for slices; it keeps its own stack,
 * so that it prints structures of any depth.
 */
export function* yamlLineSteps(object, owned = []) {
  const lines = [];
  const stack = [fieldsOf(object, owned, 0)];
  for (let count = 1; stack.length > 0; count++) {
    const structure = stack.at(-1);
    const at = structure.next++;
    if (at === structure.names.length) stack.pop();
    else {
      const below = structure.isList ? printItem(lines, structure, at) : printField(lines, structure, at);
      if (below) stack.push(below);
    }
    if (count % fieldsAtOnce === 0) yield;
  }
  return lines;
}

export const yamlLines = (object, owned) => atOnce(yamlLineSteps(object, owned));

/** The fields of a map, printed at a column. The first one of a list item begins two columns before it, with a dash. */
const fieldsOf = (value, owned, column, isItem = false) => ({
  value,
  names: Object.keys(value),
  owned,
  column,
  isItem,
  isList: false,
  next: 0,
});
const itemsOf = (value, owned, column) => ({ value, names: value, owned, column, isList: true, next: 0 });

/** Prints the line of a field, and returns the structure below it, if any. */
function printField(lines, { value, names, owned, column, isItem }, index) {
  const name = names[index];
  const key = `${scalar(name)}:`;
  const at = isItem && index === 0 ? { indent: column - 2, key: `- ${key}`, column } : { indent: column, key, column };
  return printValue(lines, value[name], ownersOfField(owned, name), at);
}

function printItem(lines, { value, owned, column }, index) {
  const item = value[index];
  const itemOwners = ownersOfItem(owned, item, index);
  const isMap = isStructure(item) && !Array.isArray(item) && !isEmpty(item);
  if (isMap) return fieldsOf(item, itemOwners.below, column + 2, true);
  return printValue(lines, item, itemOwners, { indent: column, key: '-', column: column + 2 });
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
    return Array.isArray(value) ? itemsOf(value, below, column) : fieldsOf(value, below, column + 2);
  }
  return undefined;
}

/** Returns the text of the lines, for copying. */
export const yamlText = (lines) =>
  lines.map(({ indent, key, text }) => `${' '.repeat(indent)}${[key, text].filter(Boolean).join(' ')}`).join('\n');
