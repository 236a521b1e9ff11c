import { encodeJson, parseJson } from '../codec/json.js';
import { metadataBytes } from './metadata-bytes.js';

const newHead = Buffer.from('{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",');
const podHead = '{"kind":"Pod","apiVersion":"v1",';
const cut = (object: Buffer) => metadataBytes(object, Buffer.from(podHead), newHead);

describe('metadataBytes', () => {
  it.each([
    ['empty metadata', {}],
    [
      'braces, quotes and backslashes in strings',
      { name: 'a', annotations: { 'k"}{': '{"a":"}\\"\\\\"}', end: '\\' } },
    ],
    ['nested objects and lists', { managedFields: [{ fieldsV1: { 'f:a': { 'k:{"name":"b"}': {} } } }], labels: {} }],
    ['an annotation called metadata', { annotations: { metadata: 'x' }, generation: 3 }],
    ['text outside of ASCII', { annotations: { note: 'ä € 😀' } }],
  ])('%s equals what parsing and encoding would give', (_name, metadata) => {
    const pod = encodeJson({ kind: 'Pod', apiVersion: 'v1', metadata, spec: { metadata: {} }, status: {} });
    const parsed = parseJson(pod) as { metadata: object };
    const whole = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: parsed.metadata };
    expect(cut(pod)!.toString()).toBe(encodeJson(whole).toString());
  });

  it.each([
    ['white space', `${podHead}"metadata":{"name": "a"}}`],
    ['escapes of characters that need none', `${podHead}"metadata":{"name":"\\u0061"}}`],
    ['an escaped slash', `${podHead}"metadata":{"name":"\\/"}}`],
    ['other fields before the metadata', `${podHead}"spec":{"metadata":{}},"metadata":{"name":"a"}}`],
    ['apiVersion first', '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}'],
    ['no metadata', `${podHead}"spec":{}}`],
    ['cut JSON', `${podHead}"metadata":{"name":"a"`],
  ])('an object with %s is left to parsing', (_name, text) => {
    expect(cut(Buffer.from(text))).toBeUndefined();
  });
});
