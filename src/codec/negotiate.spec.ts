import type { ApiError } from '../machinery/api-error.js';
import { json, yaml } from './encodings.js';
import type { Encoding } from './encoding.js';
import { parseAccept, parseContentType } from './media-type.js';
import { negotiateInput, OutputNegotiator, wantsPretty } from './negotiate.js';

/** An encoding that can stream but cannot encode Tables. */
const binary: Encoding = {
  ...json,
  name: 'protobuf',
  mediaType: 'application/vnd.kubernetes.protobuf',
  streamMediaType: 'application/vnd.kubernetes.protobuf;stream=watch',
  takesTables: false,
};
const offer = { encodings: [json, yaml, binary], metaGroup: 'meta.k8s.io', allowsTransforms: true, canWatch: false };

const outcome = (
  run: () => { encoding: Encoding; pretty?: boolean; transform?: { as: string; version: string } | undefined },
) => {
  try {
    const { encoding, pretty, transform } = run();
    return [encoding.name, pretty ? 'pretty' : '', transform ? `${transform.as}/${transform.version}` : '']
      .filter(Boolean)
      .join(' ');
  } catch (error) {
    return `${(error as ApiError).code} ${(error as ApiError).message}`;
  }
};

const routed =
  '406 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf';
const negotiated =
  '406 only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
const table = 'as=Table;g=meta.k8s.io;v=v1';

describe('OutputNegotiator', () => {
  const negotiator = new OutputNegotiator(offer);
  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['*', 'json'],
    ['application/json', 'json'],
    ['Application/JSON', 'json'],
    ['application/yaml', 'yaml'],
    ['application/json; charset=utf-8', 'json'],
    ['application/json;profile=x', 'json'],
    ['application/json;pretty=1', 'json pretty'],
    ['application/yaml, application/json', 'yaml'],
    ['application/yaml;q=0.5, application/json', 'json'],
    ['application/yaml;q=0.5, application/json;q=0.4', 'yaml'],
    ['*/*;q=0.9, application/yaml', 'yaml'],
    ['*/*, application/yaml', 'yaml'],
    ['image/*, application/json', 'json'],
    ['application/xml, application/json;q=0.5', 'json'],
    ['application/vnd.kubernetes.protobuf, application/json', 'protobuf'],
    ['application/json;stream=watch', 'json'],
    ['application/vnd.kubernetes.protobuf;stream=watch', 'protobuf'],
    [`application/json;${table}`, 'json Table/v1'],
    [`application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json`, 'json Table/v1beta1'],
    [`application/yaml;${table}`, 'yaml Table/v1'],
    [`application/vnd.kubernetes.protobuf;${table}, application/json;${table}`, 'json Table/v1'],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'protobuf PartialObjectMetadata/v1',
    ],
    [`application/xml, application/json;${table}`, 'json Table/v1'],
    ['application/json;as=Table;g=x;v=v1, application/json', 'json'],
    ['application/xml', routed],
    ['application/*', routed],
    ['garbage', routed],
    ['application/json;as=Table;g=meta.k8s.io;v=v9', negotiated],
    ['application/json;as=Nothing;g=meta.k8s.io;v=v1', negotiated],
    ['application/json;as=Table;g=x;v=v1', negotiated],
    [`application/vnd.kubernetes.protobuf;${table}`, negotiated],
    ['application/json;stream=other', negotiated],
  ])('Accept %s → %s', (accept, want) => {
    expect(outcome(() => negotiator.negotiate(accept))).toBe(want);
    expect(outcome(() => negotiator.negotiate(accept))).toBe(want);
  });

  it.each([
    [undefined, 'json'],
    ['application/json', 'json'],
    ['application/json;stream=watch', 'json'],
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
    [
      'application/yaml',
      '406 only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
  ])('a watch with Accept %s → %s', (accept, want) =>
    expect(outcome(() => negotiator.negotiateStream(accept))).toBe(want),
  );

  it('without transforms the answer has one shape, and a refusal names the stream types', () => {
    const plain = new OutputNegotiator({ ...offer, allowsTransforms: false });
    expect(outcome(() => plain.negotiate(`application/json;${table}`))).toBe(negotiated);
    const watching = new OutputNegotiator({ ...offer, canWatch: true });
    expect(outcome(() => watching.negotiate('application/xml'))).toBe(
      `${routed}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`,
    );
  });

  const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const routedCustom = '406 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml';
  it.each([
    [undefined, 'json'],
    ['application/vnd.kubernetes.protobuf, application/json', 'json'],
    ['application/vnd.kubernetes.protobuf, */*', 'json'],
    [
      `application/vnd.kubernetes.protobuf;${partial}, application/json;${partial}`,
      'protobuf PartialObjectMetadata/v1',
    ],
    [`application/vnd.kubernetes.protobuf;${table}, application/json;${table}`, 'json Table/v1'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf', routedCustom],
    ['application/json;as=Table;g=x;v=v1', negotiated],
    ['application/xml', routed],
  ])('a custom kind with Accept %s → %s', (accept, want) => {
    const encodings = offer.encodings.map((one) => ({ ...one, takesAnyKind: one.name !== 'protobuf' }));
    const custom = new OutputNegotiator({ ...offer, encodings, isCustom: true });
    expect(outcome(() => custom.negotiate(accept))).toBe(want);
  });

  it('stream media types are known to routes and refused in Accept', () => {
    const sequence: Encoding = {
      ...json,
      name: 'cbor',
      mediaType: 'application/cbor',
      streamMediaType: 'application/cbor-seq',
    };
    const watching = new OutputNegotiator({ ...offer, encodings: [...offer.encodings, sequence], canWatch: true });
    expect(outcome(() => watching.negotiateStream('application/cbor'))).toBe('cbor');
    expect(outcome(() => watching.negotiateStream('application/cbor-seq'))).toBe(`${negotiated}, application/cbor`);
    expect(outcome(() => watching.negotiate('application/cbor-seq'))).toBe(`${negotiated}, application/cbor`);
    expect(outcome(() => watching.negotiate('application/xml'))).toMatch(/;stream=watch, application\/cbor-seq$/);
  });

  it('the memo of Accept headers is bounded', () => {
    for (let index = 0; index < 2000; index++) negotiator.negotiate(`application/json;x=${index}`);
    expect(negotiator.negotiate('application/json')).toBe(negotiator.negotiate('application/json'));
  });
});

describe('negotiateInput', () => {
  const refused =
    '415 the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf';
  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['APPLICATION/YAML', 'yaml'],
    ['text/plain', refused],
    ['application/;;', refused],
    ['application/merge-patch+json', refused],
    ['application/json; charset', refused],
  ])('Content-Type %s → %s', (contentType, want) =>
    expect(outcome(() => ({ encoding: negotiateInput(contentType, offer.encodings) }))).toBe(want),
  );
});

describe('media types', () => {
  it('quoted parameters are kept whole', () => {
    expect(parseContentType('a/b; c="x;y\\"z"; D=1')).toEqual({
      name: 'a/b',
      parameters: new Map([
        ['c', 'x;y"z'],
        ['d', '1'],
      ]),
    });
    expect(parseAccept('a/b;c="x,y", d/e;q=0.1').map(({ name, quality }) => [name, quality])).toEqual([
      ['a/b', 1],
      ['d/e', 0.1],
    ]);
  });
});

it.each([
  [undefined, undefined, false],
  [undefined, 'curl/8', true],
  [undefined, 'kubectl/v1.36', false],
  ['false', 'curl/8', false],
  ['true', undefined, true],
  ['1', undefined, true],
  ['maybe', undefined, false],
  ['', 'Mozilla/5.0 (X11)', true],
])('?pretty=%s from %s is %s', (pretty, agent, want) => expect(wantsPretty(pretty, agent)).toBe(want));
