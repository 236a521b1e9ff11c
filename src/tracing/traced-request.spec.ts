import { parseRequestInfo } from '../machinery/request-info.js';
import { shownTarget, tracedRequest } from './traced-request.js';

test.each([
  ['GET', '/api/v1/pods', 'GET /api/v1/pods', 'List'],
  ['GET', '/api/v1/namespaces/a/pods/b/status', 'GET /api/v1/namespaces/{:namespace}/pods/{:name}/status', 'Get'],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/a/deployments/b',
    'PATCH /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}',
    'Patch',
  ],
  [
    'DELETE',
    '/apis/apps/v1/namespaces/a/deployments',
    'DELETE /apis/apps/v1/namespaces/{:namespace}/deployments',
    'Delete',
  ],
  ['GET', '/api/v1/watch/pods', 'GET /api/v1/pods', 'Watch'],
  ['GET', '/healthz', 'GET', undefined],
])('%s %s has the span %s', (method, url, spanName, verbSpan) => {
  const request = tracedRequest({
    info: parseRequestInfo(method, url),
    auditId: 'id',
    startMs: 0,
    method,
    url,
    httpVersion: '2.0',
    headers: { authorization: 'Bearer s3cret', cookie: 's3cret', 'user-agent': 'x'.repeat(65_536) },
    peerAddress: undefined,
    peerPort: undefined,
  });
  expect(request).toMatchObject({ spanName, verbSpan });
  const attributes = { ...request.attributes, ...request.verbAttributes() };
  expect(JSON.stringify(attributes)).not.toContain('s3cret');
  expect(attributes['user_agent.original']).toHaveLength(256);
});

test.each([
  ['/api', '/api'],
  ['/api/v1/pods?limit=5&continue=abc', '/api/v1/pods?limit=5&continue=abc'],
  ['/exec?command=mysql&command=-psecret&stdin=1', '/exec?command=REDACTED&command=REDACTED&stdin=REDACTED'],
  ['/x?access_token=secret&watch', '/x?access_token=REDACTED&watch'],
  ['/x?%6cimit=1&__proto__=1&=2', '/x?%6cimit=REDACTED&__proto__=REDACTED&=REDACTED'],
])('the target of %s is shown as %s', (url, shown) => {
  expect(shownTarget(url)).toBe(shown);
});

it('the target of a long URL is cut', () => {
  expect(shownTarget(`/x?limit=${'1'.repeat(100_000)}`).length).toBeLessThanOrEqual(1_024);
  expect(shownTarget(`/x?${'a=1&'.repeat(20_000)}`).length).toBeLessThanOrEqual(1_024);
});
