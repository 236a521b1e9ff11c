import type { JsonValue } from '../machinery/kube-object.js';
import { DecodeError } from '../std/decode-error.js';
import { atOnce, type Steps } from '../std/steps.js';
import type { Decoded, DecodeOptions, Encoding } from './encoding.js';
import { decodeJsonInSteps, encodeJson, prettyJson } from './json.js';
import { findDuplicateFields } from './strict-json.js';
import { ValueBudget } from './value-budget.js';
import { decodeYaml, decodeYamlInSteps, encodeYaml, encodeYamlInSteps } from './yaml.js';

const none: readonly string[] = [];

export const json: Encoding = {
  name: 'json',
  mediaType: 'application/json',
  streamMediaType: 'application/json',
  takesAnyKind: true,
  takesTables: true,
  encode: (value, options) => (options?.pretty ? prettyJson(value) : encodeJson(value)),
  decode: (bytes, options) => atOnce(jsonInSteps(bytes, options)),
  decodeInSteps: jsonInSteps,
};

function* jsonInSteps(bytes: Uint8Array, options: DecodeOptions | undefined): Steps<Decoded> {
  new ValueBudget(options?.valuesMax ?? Infinity).takeJson(bytes);
  yield;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let value: JsonValue;
  try {
    value = yield* decodeJsonInSteps(text);
  } catch (error) {
    // The kind is decoded first, so a syntax error is reported as its error.
    if (error instanceof DecodeError) {
      throw new DecodeError(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
    }
    throw error;
  }
  if (!options?.findDuplicates) return { value, duplicates: none };
  yield;
  return { value, duplicates: findDuplicateFields(text) };
}

export const yaml: Encoding = {
  name: 'yaml',
  mediaType: 'application/yaml',
  streamMediaType: undefined,
  takesAnyKind: true,
  takesTables: true,
  encode: (value) => encodeYaml(value),
  encodeInSteps: encodeYamlInSteps,
  decode: (bytes, options) => decodeYaml(bytes, options),
  decodeInSteps: (bytes, options) => decodeYamlInSteps(bytes, options),
};

/** Sorted by preference; the first is the default. */
export const standardEncodings: readonly Encoding[] = [json, yaml];
