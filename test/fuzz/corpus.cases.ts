import type { FuzzRequest } from './requests.js';

const json = { headers: [['content-type', 'application/json']], framing: 'length' } as const;
const body = (value: unknown) => Buffer.from(JSON.stringify(value));
const owned = (owner: object) => body({ metadata: { name: 'owned', ownerReferences: [owner] } });
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

/** Requests that once caused failures, or look like it, with a description. */
export const corpus: readonly (FuzzRequest & { readonly about: string })[] = [
  {
    about: 'an ownerReference whose apiVersion is not a string',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, apiVersion: true }),
  },
  {
    about: 'an ownerReference whose name is a list',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, name: ['p'] }),
  },
  {
    about: 'an ownerReference whose controller is a string',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, controller: 'true' }),
  },
  {
    about: 'a patch that sets the apiVersion of an ownerReference to a boolean',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/secrets/base',
    headers: [['content-type', 'application/json-patch+json']],
    body: body([{ op: 'replace', path: '/metadata/ownerReferences/0/apiVersion', value: true }]),
    framing: 'length',
  },
  {
    about: 'headers beyond every limit',
    method: 'GET',
    target: '/api/v1/pods',
    headers: [['x-large', 'x'.repeat(70_000)]],
  },
  {
    about: '__proto__ in an object',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: Buffer.from(
      '{"metadata":{"name":"proto","labels":{"__proto__":{"polluted":"1"}}},"__proto__":{"polluted":1}}',
    ),
  },
  {
    about: '__proto__ in a merge patch',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/configmaps/base',
    headers: [['content-type', 'application/merge-patch+json']],
    body: Buffer.from('{"constructor":{"prototype":{"polluted":1}},"__proto__":{"polluted":1}}'),
    framing: 'length',
  },
  {
    about: '__proto__ in a JSON patch',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/configmaps/base',
    headers: [['content-type', 'application/json-patch+json']],
    body: body([{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }]),
    framing: 'length',
  },
  {
    about: 'fifty thousand nested lists',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: Buffer.from(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  },
  {
    about: 'YAML aliases that expand',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    headers: [['content-type', 'application/yaml']],
    body: Buffer.from(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
        .map(
          (name, i, all) =>
            `${name}: &${name} [${Array(9)
              .fill(i === 0 ? 'x' : `*${all[i - 1]}`)
              .join(',')}]`,
        )
        .join('\n'),
    ),
    framing: 'length',
  },
  { about: 'a path that is not UTF-8', method: 'GET', target: '/api/v1/namespaces/%ff%00/pods/%2e%2e', headers: [] },
  {
    about: 'a HEAD of a watch',
    method: 'HEAD',
    target: '/api/v1/pods?watch=1',
    headers: [],
  },
  {
    about: 'a request after it on the same connection',
    method: 'GET',
    target: '/api/v1/pods',
    headers: [],
  },
  {
    about: 'a watch with an unread body',
    method: 'GET',
    target: '/api/v1/pods?watch=1',
    headers: [],
    body: Buffer.alloc(200_000, 'x'),
    framing: 'length',
  },
  { about: 'a path of slashes', method: 'GET', target: '/////', headers: [] },
  {
    about: 'a field with an integer beyond 2^53 in the message',
    method: 'POST',
    target: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ...json,
    body: Buffer.from(
      '{"metadata":{"generation":-9007199254740993},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}',
    ),
  },
  {
    about: 'an invalid healthCheckNodePort',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/services',
    ...json,
    body: body({
      metadata: { name: 'checked' },
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: -5, ports: [{ port: 80 }] },
    }),
  },
];
