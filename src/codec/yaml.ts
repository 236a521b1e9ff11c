import { DecodeError } from '../std/decode-error.js';
import { atOnce, type Steps } from '../std/steps.js';
import type { Decoded, DecodeOptions } from './encoding.js';
import { decodeJsonInSteps } from './json.js';
import { findDuplicateFields } from './strict-json.js';
import { ValueBudget } from './value-budget.js';
import { readYaml } from './yaml-reader.js';
import { writeYaml, writeYamlInSteps } from './yaml-writer.js';

/**
 * Decodes the first YAML document of a body. Bodies that begin with `{` are tried as JSON first: most clients send JSON
 * as YAML, and parsing it is a hundred times faster.
 */
export function decodeYaml(bytes: Uint8Array, options?: DecodeOptions): Decoded {
  return atOnce(decodeYamlInSteps(bytes, options));
}

export function* decodeYamlInSteps(bytes: Uint8Array, options?: DecodeOptions): Steps<Decoded> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const valuesMax = options?.valuesMax ?? Infinity;
  if (text.startsWith('{')) {
    try {
      new ValueBudget(valuesMax).takeJson(bytes);
      yield;
      const value = yield* decodeJsonInSteps(text);
      yield;
      return { value, duplicates: options?.findDuplicates ? findDuplicateFields(text) : [] };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  const { value, duplicates } = yield* readYaml(text, valuesMax);
  if (duplicates.length === 0 || !options?.findDuplicates) return { value, duplicates: [] };
  const lines = duplicates.map(({ line, key }) => `\n  line ${line}: key ${JSON.stringify(key)} already set in map`);
  return { value, duplicates: [`yaml: unmarshal errors:${lines.join('')}`] };
}

export function encodeYaml(value: unknown): Buffer {
  return Buffer.from(writeYaml(value));
}

export function* encodeYamlInSteps(value: unknown): Steps<Buffer> {
  return Buffer.from(yield* writeYamlInSteps(value));
}
