import { parseRequestInfo } from '../machinery/request-info.js';
import { RequestAttributes } from './request-attributes.js';

const user = { name: 'ann', uid: '', groups: [], extra: {} };
const selectors = '?labelSelector=b,a%3D1&fieldSelector=spec.nodeName%3Dn1';

it.each<[request: string, labels: string | undefined, fields: string | undefined]>([
  [`GET /api/v1/pods${selectors}`, 'a=1,b', 'spec.nodeName=n1'],
  [`GET /api/v1/pods${selectors}&watch=1`, 'a=1,b', 'spec.nodeName=n1'],
  [`DELETE /apis/apps/v1/namespaces/ns/deployments${selectors}`, 'a=1,b', 'spec.nodeName=n1'],
  [`GET /api/v1/namespaces/ns/pods/p${selectors}`, undefined, undefined],
  [`POST /api/v1/namespaces/ns/pods${selectors}`, undefined, undefined],
  [`DELETE /api/v1/namespaces/ns/pods/p${selectors}`, undefined, undefined],
  [`GET /api/v1/watch/pods${selectors}`, undefined, undefined],
  [`GET //api/v1/watch/namespaces/ns/pods/p${selectors}&watch=1`, undefined, undefined],
  [`GET /apis/apps/v1/watch/deployments${selectors}`, undefined, undefined],
  [`GET /apis/apps/v1/namespaces/watch/deployments${selectors}`, 'a=1,b', 'spec.nodeName=n1'],
  [`GET /healthz${selectors}`, undefined, undefined],
  ['GET /api/v1/pods', undefined, undefined],
  ['GET /api/v1/pods?labelSelector=&fieldSelector=', undefined, undefined],
  ['GET /api/v1/pods?labelSelector=a%20in%20(b&fieldSelector=%3D%5C', undefined, undefined],
  ['GET /api/v1/pods?labelSelector=a&labelSelector=b', 'a', undefined],
])('%s', (request, labels, fields) => {
  const [method = '', url = ''] = request.split(' ');
  const attributes = new RequestAttributes(user, parseRequestInfo(method, url));
  expect([attributes.labelSelector?.toString(), attributes.fieldSelector?.toString()]).toEqual([labels, fields]);
});

it.each([
  [16_384, 16_384],
  [16_385, undefined],
])('of selectors with %d characters, %p are authorized', (length, expected) => {
  const text = `k=${'x'.repeat(length - 2)}`;
  const attributes = new RequestAttributes(user, parseRequestInfo('GET', `/api/v1/pods?fieldSelector=${text}`));
  expect(attributes.fieldSelector?.toString().length).toBe(expected);
});
