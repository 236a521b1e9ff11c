import { parseRequestInfo } from '../machinery/request-info.js';
import { withOptions } from '../registry/request-context.js';
import { systemClock } from '../std/clock.js';
import { RequestState } from './request-state.js';

const state = () =>
  new RequestState(parseRequestInfo('POST', '/api/v1/namespaces/ns/pods/p/eviction'), 'id', systemClock);

it('a context with other options keeps the signal, the audit annotations and the warnings of the request', () => {
  const request = state();
  const changed = withOptions(request.context({ dryRun: false, fieldManager: 'm' }), { dryRun: true });
  changed.auditAnnotations.set('a', 'b');
  changed.warnings.push('w');
  expect([request.auditAnnotations, request.warnings]).toEqual([new Map([['a', 'b']]), ['w']]);
  request.expire(new Error('too late'));
  expect([changed.signal?.aborted, changed.dryRun, changed.fieldManager, changed.verb]).toEqual([true, true, 'm', 'create']); // prettier-ignore
});

it.each([
  ['HTTP/1.1, sent', { destroyed: true, writableEnded: true, writableFinished: true }, false],
  ['HTTP/1.1, cut', { destroyed: true, writableEnded: true, writableFinished: false }, true],
  ['HTTP/1.1, client gone', { destroyed: true, writableEnded: false, writableFinished: false }, true],
  ['HTTP/2, client gone', { destroyed: false, writableEnded: false, writableFinished: true }, true],
])('the end of the answer cancels the signal if the client did not get it: %s', (_title, answer, isCancelled) => {
  const info = parseRequestInfo('GET', '/api/v1/namespaces');
  const request = new RequestState(info, 'id', systemClock, { ...answer, destroyed: false, once: () => undefined });
  const { signal } = request;
  request.end();
  expect(signal.aborted).toBe(isCancelled);
});
