import { parseJson, printJson } from '../api/json.js';

/** Removes fields of metadata from YAML of the server, with all that is below them. */
function withoutFieldsYaml(text, names) {
  const isRemoved = (line) => names.some((name) => line.startsWith(`  ${name}:`));
  const result = [];
  let isInMetadata = false;
  let isSkipping = false;
  for (const line of text.split('\n')) {
    if (/^\S/.test(line)) isInMetadata = line.startsWith('metadata:');
    if (isSkipping && /^( {3,}| {2}- )/.test(line)) continue;
    isSkipping = isInMetadata && isRemoved(line);
    if (!isSkipping) result.push(line);
  }
  return result.join('\n');
}

function withoutFieldsJson(text, names) {
  const object = parseJson(text);
  for (const name of names) delete object?.metadata?.[name];
  return printJson(object, 2);
}

/** Returns { uid, resourceVersion } of YAML of the server. */
function identityYaml(text) {
  const [, metadata = ''] = /^metadata:\n((?: .*(?:\n|$))*)/m.exec(text) ?? [];
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
