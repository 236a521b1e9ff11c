import { parseRequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { InflightLimiter, type InflightLimits } from './inflight-limiter.js';

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });
const get = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/p');
const put = parseRequestInfo('PUT', '/api/v1/namespaces/a/pods/p');
const watch = parseRequestInfo('GET', '/api/v1/pods?watch=true');
const log = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/p/log');
const limits: InflightLimits = { readsMax: 2, writesMax: 1, longRunningMax: 4, longRunningPerUserMax: 3 };

const admits = (limiter: InflightLimiter, who: UserInfo, ...infos: (typeof get)[]) =>
  infos.map((info) => limiter.admit(info, who).isAdmitted);

it.each([
  ['reads up to readsMax', [get, get, get], [true, true, false]],
  ['writes up to writesMax, independent of reads', [get, get, put, put], [true, true, true, false]],
  ['watches and logs of one user up to longRunningPerUserMax', [watch, log, watch, watch], [true, true, true, false]],
  ['reads at the limit of watches', [watch, watch, watch, watch, get], [true, true, true, false, true]],
])('the limiter admits %s', (_name, infos, expected) => {
  expect(admits(new InflightLimiter(limits), user('alice'), ...infos)).toEqual(expected);
});

it('the limiter admits watches of a second user, up to longRunningMax', () => {
  const limiter = new InflightLimiter(limits);
  expect(admits(limiter, user('alice'), watch, watch, watch, watch)).toEqual([true, true, true, false]);
  expect(admits(limiter, user('bob'), watch, watch)).toEqual([true, false]);
  expect(limiter.inflight).toEqual({ reads: 0, writes: 0, longRunning: 4 });
});

it('the limiter admits again after release, and drops users without watches', () => {
  const limiter = new InflightLimiter(limits);
  const verdicts = [watch, watch, watch].map((info) => limiter.admit(info, user('alice')));
  for (const verdict of verdicts) if (verdict.isAdmitted) verdict.release!();
  expect(limiter.inflight.longRunning).toBe(0);
  expect(limiter['longRunningByUser'].size).toBe(0);
  expect(admits(limiter, user('alice'), watch)).toEqual([true]);
});

it('the limiter never rejects system:masters, and nothing with limits of 0', () => {
  const many = Array.from({ length: 9 }, () => watch);
  expect(admits(new InflightLimiter(limits), user('admin', 'system:masters'), ...many)).not.toContain(false);
  const unbounded = { readsMax: 0, writesMax: 0, longRunningMax: 0, longRunningPerUserMax: 0 };
  expect(admits(new InflightLimiter(unbounded), user('alice'), ...many, get, put)).not.toContain(false);
});
