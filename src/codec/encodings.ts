import { countValues } from '../machinery/count-values.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { TypeSource } from '../machinery/type-model.js';
import { DecodeError } from '../std/decode-error.js';
import { atOnce, type Steps } from '../std/steps.js';
import { cborEncoding } from './cbor.js';
import type { Decoded, DecodeOptions, Encoding } from './encoding.js';
import { decodeJsonInSteps, encodeJson, prettyJson } from './json.js';
import { findDuplicateFields } from './strict-json.js';
import { protobufEncoding } from './protobuf.js';
import { managedFieldsValuesMax, tooManyValues, ValueBudget } from './value-budget.js';
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

/** The encodings of answers that are no objects of the API. Sorted by preference; the first is the default. */
export const standardEncodings: readonly Encoding[] = [json, yaml];

interface EncodingDependencies {
  readonly protobufMediaType: string;
  /** True with the feature gate CBORServingAndStorage. */
  readonly hasCbor: boolean;
  readonly types: () => TypeSource;
}

/** Returns every encoding of objects, sorted by preference; those of an embedding program come last. */
export function makeEncodings(
  { protobufMediaType, hasCbor, types }: EncodingDependencies,
  own: readonly Encoding[] = [],
): readonly Encoding[] {
  const builtIn = [
    ...standardEncodings,
    protobufEncoding(protobufMediaType, types),
    ...(hasCbor ? [cborEncoding(types)] : []),
  ];
  own.forEach((encoding, index) => checkOwn(encoding, [...builtIn, ...own.slice(0, index)]));
  return [...builtIn, ...own.map(withinLimit)];
}

function checkOwn({ name, mediaType, streamMediaType, frame }: Encoding, others: readonly Encoding[]): void {
  const twin = others.find((other) => other.name === name || other.mediaType === mediaType);
  if (twin) throw new Error(`encoding ${name} (${mediaType}): the server has ${twin.name} (${twin.mediaType}) already`);
  if (streamMediaType !== undefined && !frame)
    throw new Error(`encoding ${name} has a streamMediaType, but no frame() for the events of a watch`);
}

/** Refuses bodies with more values than a request may have, after decoding: own decoders need not count them. */
function withinLimit(encoding: Encoding): Encoding {
  const checked = (decoded: Decoded, valuesMax = Infinity): Decoded => {
    const max = valuesMax + managedFieldsValuesMax(valuesMax);
    if (max < Infinity && countValues(decoded.value, max) > max) throw tooManyValues(valuesMax, false);
    return decoded;
  };
  return {
    ...encoding,
    decode: (bytes, options) => checked(encoding.decode(bytes, options), options?.valuesMax),
    ...(encoding.decodeInSteps && {
      *decodeInSteps(bytes, options) {
        return checked(yield* encoding.decodeInSteps!(bytes, options), options?.valuesMax);
      },
    }),
  };
}
