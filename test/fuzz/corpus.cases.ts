import type { FuzzRequest } from './requests.js';

const json = { headers: [['content-type', 'application/json']], framing: 'length' } as const;
const body = (value: unknown) => Buffer.from(JSON.stringify(value));
const owned = (owner: object) => body({ metadata: { name: 'owned', ownerReferences: [owner] } });
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };

/** Requests that once did harm, or look as if they could: each with what it is about. */
export const corpus: readonly (FuzzRequest & { readonly about: string })[] = [
  {
    about: 'an owner whose apiVersion is no text',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, apiVersion: true }),
  },
  {
    about: 'an owner whose name is a list',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, name: ['p'] }),
  },
  {
    about: 'an owner that is a controller in words',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: owned({ ...owner, controller: 'true' }),
  },
  {
    about: 'a patch that makes the apiVersion of an owner a truth',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/secrets/base',
    headers: [['content-type', 'application/json-patch+json']],
    body: body([{ op: 'replace', path: '/metadata/ownerReferences/0/apiVersion', value: true }]),
    framing: 'length',
  },
  {
    about: 'headers beyond every bound',
    method: 'GET',
    target: '/api/v1/pods',
    headers: [['x-large', 'x'.repeat(70_000)]],
  },
  {
    about: 'a prototype in an object',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: Buffer.from(
      '{"metadata":{"name":"proto","labels":{"__proto__":{"polluted":"1"}}},"__proto__":{"polluted":1}}',
    ),
  },
  {
    about: 'a prototype in a merge patch',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/configmaps/base',
    headers: [['content-type', 'application/merge-patch+json']],
    body: Buffer.from('{"constructor":{"prototype":{"polluted":1}},"__proto__":{"polluted":1}}'),
    framing: 'length',
  },
  {
    about: 'a prototype in a JSON patch',
    method: 'PATCH',
    target: '/api/v1/namespaces/fuzz/configmaps/base',
    headers: [['content-type', 'application/json-patch+json']],
    body: body([{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }]),
    framing: 'length',
  },
  {
    about: 'fifty thousand lists in each other',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/configmaps',
    ...json,
    body: Buffer.from(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  },
  {
    about: 'YAML that grows when it is read',
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
    about: 'a HEAD of a watch, which has nothing to wait for',
    method: 'HEAD',
    target: '/api/v1/pods?watch=1',
    headers: [],
  },
  {
    about: 'whatever comes after it on the same connection',
    method: 'GET',
    target: '/api/v1/pods',
    headers: [],
  },
  {
    about: 'a watch with a body that nobody reads',
    method: 'GET',
    target: '/api/v1/pods?watch=1',
    headers: [],
    body: Buffer.alloc(200_000, 'x'),
    framing: 'length',
  },
  { about: 'a path of slashes', method: 'GET', target: '/////', headers: [] },
  {
    about: 'a message about a whole number beyond what a double holds',
    method: 'POST',
    target: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ...json,
    body: Buffer.from(
      '{"metadata":{"generation":-9007199254740993},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}',
    ),
  },
  {
    about: 'a port for health checks that no node has',
    method: 'POST',
    target: '/api/v1/namespaces/fuzz/services',
    ...json,
    body: body({
      metadata: { name: 'checked' },
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: -5, ports: [{ port: 80 }] },
    }),
  },
];
