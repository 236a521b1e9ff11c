import { decodeYaml } from '../codec/yaml.js';
import { asFields, asText, type Fields } from '../machinery/fields.js';
import { ClientError } from './client-error.js';

/** Returns the objects of a YAML or JSON file with one or more documents. Throws ClientError. */
export function objectsOf(bytes: Buffer, file: string): Fields[] {
  const documents = bytes.toString().split(/^---(?:[ \t].*)?$/m);
  const objects: Fields[] = [];
  for (const [index, text] of documents.entries()) {
    if (/^(\s*(#.*)?\n?)*$/.test(text)) continue;
    let value: unknown;
    try {
      ({ value } = decodeYaml(Buffer.from(text)));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new ClientError('Kubeconfig', `${file}, document ${index + 1}: ${problem}`);
    }
    const object = asFields(value);
    const { apiVersion, kind } = object;
    if (asText(apiVersion) === '' || asText(kind) === '') {
      throw new ClientError('Kubeconfig', `${file}, document ${index + 1}: give apiVersion and kind`);
    }
    objects.push(object);
  }
  if (objects.length === 0) throw new ClientError('Kubeconfig', `${file} has no objects`);
  return objects;
}
