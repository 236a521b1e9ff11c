import type { KubeObject } from '../machinery/kube-object.js';
import { revisionOf } from '../machinery/revision.js';
import { encodeStored, metadataStart, spliceResourceVersion } from './stored-object.js';

const spliced = (text: string, revision = 7): string =>
  spliceResourceVersion(Buffer.from(text), revisionOf(revision)).toString();

describe('encodeStored', () => {
  it('starts with kind, apiVersion and metadata, and omits resourceVersion', () => {
    const object: KubeObject = {
      data: { a: '1' },
      metadata: { resourceVersion: '5', name: 'one', selfLink: '/x' },
      apiVersion: 'v1',
      kind: 'ConfigMap',
    };
    expect(encodeStored(object).toString()).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"},"data":{"a":"1"}}',
    );
    expect(object.metadata.resourceVersion).toBe('5');
  });
});

describe('spliceResourceVersion', () => {
  it.each([
    [
      '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"},"spec":{}}',
    ],
    [
      '{"kind":"Pod","apiVersion":"v1","metadata":{}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}',
    ],
    // Another order, spaces, an existing resourceVersion, a kind with an escape.
    [
      '{"apiVersion":"v1","spec":{},"kind":"Pod","metadata":{"name":"p"}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"},"spec":{}}',
    ],
    [
      '{ "kind":"Pod","apiVersion":"v1","metadata":{}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}',
    ],
    [
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"3","name":"p"}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"}}',
    ],
    [
      '{"kind":"P\\"","apiVersion":"v1","metadata":{"name":"p"}}',
      '{"kind":"P\\"","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"}}',
    ],
    [
      '{"kind":"Pod","apiVersion":"v1","spec":{"metadata":{"x":1}},"metadata":{"name":"p"}}',
      '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"p"},"spec":{"metadata":{"x":1}}}',
    ],
  ])('splices into %s', (given, want) => expect(spliced(given)).toBe(want));

  it('the object is the same for any revision', () => {
    const bytes = encodeStored({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'é', labels: { a: 'b' } } });
    for (const revision of [1, 42, 10 ** 9, Number.MAX_SAFE_INTEGER]) {
      expect(JSON.parse(spliceResourceVersion(bytes, revisionOf(revision)).toString())).toEqual({
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(revision), name: 'é', labels: { a: 'b' } },
      });
    }
  });

  it('finds no metadata in truncated bytes', () => {
    const whole = Buffer.from('{"kind":"Pod","apiVersion":"v1","metadata":{');
    expect(metadataStart(whole)).toBe(whole.length);
    for (let length = 0; length < whole.length; length++) expect(metadataStart(whole.subarray(0, length))).toBe(-1);
  });
});
