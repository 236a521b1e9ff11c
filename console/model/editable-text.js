import { parseJson, printJson } from '../api/json.js';

/** Removes metadata.managedFields from YAML of the server; a write without it leaves the stored one as it is. */
function withoutManagedFieldsYaml(text) {
  const lines = text.split('\n');
  const result = [];
  let isInMetadata = false;
  let isSkipping = false;
  for (const line of lines) {
    if (/^\S/.test(line)) isInMetadata = line.startsWith('metadata:');
    if (isSkipping && /^( {3,}| {2}- )/.test(line)) continue;
    isSkipping = isInMetadata && /^ {2}managedFields:/.test(line);
    if (!isSkipping) result.push(line);
  }
  return result.join('\n');
}

function withoutManagedFieldsJson(text) {
  const object = parseJson(text);
  if (object?.metadata) delete object.metadata.managedFields;
  return printJson(object, 2);
}

export const formats = {
  yaml: { label: 'YAML', type: 'application/yaml', clean: withoutManagedFieldsYaml },
  json: { label: 'JSON', type: 'application/json', clean: withoutManagedFieldsJson },
};
