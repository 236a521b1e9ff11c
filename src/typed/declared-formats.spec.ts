import { formats } from './declared-formats.js';

const names = { ownResourcePrefix: 'kubernetes.io/' };
const found = (format: string, text: string) => formats[format]!(text, 'f', names).map(({ detail }) => detail);

it.each([
  ['k8s-short-name', 'a-1'],
  ['k8s-long-name', 'a.b-1'],
  ['k8s-long-name-caseless', 'A.b-1'],
  ['k8s-label-key', 'example.com/A_b'],
  ['k8s-label-value', ''],
  ['k8s-path-segment-name', 'a:b'],
  ['k8s-uuid', '00000000-0000-4000-8000-00000000abcd'],
  ['k8s-resource-pool-name', 'a.b/c'],
  ['k8s-extended-resource-name', 'example.com/gpu'],
  ['k8s-resource-fully-qualified-name', 'example.com/my_name'],
])('format %s accepts %s', (format, text) => expect(found(format, text)).toEqual([]));

it.each<[string, string, (string | RegExp)[]]>([
  ['k8s-short-name', 'A', [/^Invalid value: "A": a lowercase RFC 1123 label must/]],
  ['k8s-short-name', '', [/^Invalid value: "": a lowercase RFC 1123 label must/]],
  ['k8s-short-name', 'a.b', ['Invalid value: "a.b": must not contain dots']],
  [
    'k8s-long-name',
    'a_b',
    [/a lowercase RFC 1123 subdomain must consist of lower case alphanumeric .*'example.com', regex/],
  ],
  [
    'k8s-long-name-caseless',
    'A_b',
    [
      /: an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must .*\(e.g. 'Example.com', regex/,
    ],
  ],
  ['k8s-label-key', 'a/', ['Invalid value: "a/": name part must be non-empty', /name part must consist/]],
  ['k8s-path-segment-name', '..', ['Invalid value: "..": may not be \'..\'']],
  ['k8s-uuid', 'A0000000-0000-4000-8000-00000000abcd', [/must be a lowercase UUID in 8-4-4-4-12 format$/]],
  [
    'k8s-resource-pool-name',
    'a//B',
    ['Invalid value: "a//B": segment 1: must not be empty', /"B": segment 2: a lowercase/],
  ],
  [
    'k8s-extended-resource-name',
    'gpu',
    [/"gpu": a name must be a domain-prefixed path, such as 'example.com\/my-prop'$/],
  ],
  [
    'k8s-extended-resource-name',
    'x.kubernetes.io/a',
    ['Invalid value: "x.kubernetes.io/a": must not have "kubernetes.io/" domain'],
  ],
  ['k8s-extended-resource-name', 'requests.x/a', ['Invalid value: "requests.x/a": must not have "requests." prefix']],
  ['k8s-resource-fully-qualified-name', 'gpu', [/"gpu": a fully qualified name must be a domain and a name separated/]],
  ['k8s-resource-fully-qualified-name', '/a', ['Invalid value: "": prefix must not be empty']],
  ['k8s-resource-fully-qualified-name', 'a/', ['Invalid value: "": name must not be empty']],
  ['k8s-resource-fully-qualified-name', `a/${'b'.repeat(33)}`, ['Too long: may not be more than 32 bytes']],
])('format %s refuses %s', (format, text, want) => {
  expect(found(format, text)).toEqual(want.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
});
