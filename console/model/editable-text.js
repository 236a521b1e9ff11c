import { parseJson, printJson } from '../api/json.js';

// Texts may have megabytes: only the lines of metadata are looked at, and the text is never split as a whole.

/** Returns where the fields of metadata begin and end in YAML of the server; undefined without any. */
function metadataOf(text) {
  const key = 'metadata:\n';
  const at = text.startsWith(key) ? 0 : text.indexOf(`\n${key}`) + 1;
  if (at === 0 && !text.startsWith(key)) return undefined;
  const begin = at + key.length;
  let end = begin;
  // Texts of annotations may have empty lines.
  while (text[end] === ' ' || text[end] === '\n') end = lineEnd(text, end);
  return { begin, end };
}

function lineEnd(text, from) {
  const newline = text.indexOf('\n', from);
  return newline < 0 ? text.length : newline + 1;
}

/** Removes fields of metadata from YAML of the server, with all that is below them. */
function withoutFieldsYaml(text, names) {
  const { begin = 0, end = 0 } = metadataOf(text) ?? {};
  const kept = [text.slice(0, begin)];
  let keptFrom = begin;
  for (let at = begin; at < end;) {
    const next = lineEnd(text, at);
    if (!names.some((name) => text.startsWith(`  ${name}:`, at))) at = next;
    else {
      kept.push(text.slice(keptFrom, at));
      keptFrom = next;
      while (keptFrom < end && (text.startsWith('   ', keptFrom) || text.startsWith('  - ', keptFrom)))
        keptFrom = lineEnd(text, keptFrom);
      at = keptFrom;
    }
  }
  return kept.join('') + text.slice(keptFrom);
}

function withoutFieldsJson(text, names) {
  const object = parseJson(text);
  for (const name of names) delete object?.metadata?.[name];
  return printJson(object, 2);
}

/** Returns { uid, resourceVersion } of YAML of the server. */
function identityYaml(text) {
  const { begin = 0, end = 0 } = metadataOf(text) ?? {};
  const metadata = text.slice(begin, end);
  return {
    uid: /^ {2}uid: "?([^"\n]*)/m.exec(metadata)?.[1],
    resourceVersion: /^ {2}resourceVersion: "?([^"\n]*)/m.exec(metadata)?.[1],
  };
}

function identityJson(text) {
  const { uid, resourceVersion } = parseJson(text).metadata ?? {};
  return { uid, resourceVersion };
}

/** `identity(text)` returns uid and resourceVersion; `without(text, names)` removes fields of metadata. */
export const formats = {
  yaml: { label: 'YAML', type: 'application/yaml', identity: identityYaml, without: withoutFieldsYaml },
  json: { label: 'JSON', type: 'application/json', identity: identityJson, without: withoutFieldsJson },
};

/** Removes managedFields: a write without them leaves the stored ones as they are. */
export const editable = (text, format) => format.without(text, ['managedFields']);

/** Removes what every write changes. */
export const comparable = (text, format) => (text === '' ? '' : format.without(text, ['resourceVersion']));
