import type { JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from './decode-error.js';
import { decodeJson } from './json.js';
import { findDuplicateFields } from './strict-json.js';
import { readYaml } from './yaml-reader.js';
import { writeYaml } from './yaml-writer.js';

/**
 * YAML in and out. Bodies that begin with `{` are tried as JSON first: that is what most clients send under this name,
 * and it is a hundred times faster. Of several documents the first is read.
 */
export function decodeYaml(
  bytes: Uint8Array,
  options?: { readonly findDuplicates?: boolean },
): { value: JsonValue; duplicates: readonly string[] } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (text.startsWith('{')) {
    try {
      const value = decodeJson(text);
      return { value, duplicates: options?.findDuplicates ? findDuplicateFields(text) : [] };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  const { value, duplicates } = readYaml(text);
  if (duplicates.length === 0 || !options?.findDuplicates) return { value, duplicates: [] };
  const lines = duplicates.map(({ line, key }) => `\n  line ${line}: key ${JSON.stringify(key)} already set in map`);
  return { value, duplicates: [`yaml: unmarshal errors:${lines.join('')}`] };
}

export function encodeYaml(value: unknown): Buffer {
  return Buffer.from(writeYaml(value));
}
