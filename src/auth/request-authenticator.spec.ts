import type { IncomingMessage } from 'node:http';
import { collectGarbage } from '../../test/harness/collect-garbage.js';
import { ManualClock } from '../std/clock.js';
import type { Authenticator } from './authenticator.js';
import { RequestAuthenticator } from './request-authenticator.js';

const clock = new ManualClock();
let asked: string[];
let invalid: ReadonlySet<string>;
beforeEach(() => {
  asked = [];
  invalid = new Set();
});

/** Authenticates every token as the user of its first ten characters. */
let users: WeakRef<object>[] = [];
const byName: Authenticator = {
  reads: 'bearer token',
  authenticate({ bearerToken = '' }) {
    const name = bearerToken.slice(0, 10);
    asked.push(name);
    const result = { user: { name, uid: '', groups: [], extra: {} }, isStillValid: () => !invalid.has(name) };
    users.push(new WeakRef(result.user));
    return result;
  },
};
const make = () => new RequestAuthenticator({ authenticators: [byName], certificates: undefined, clock });
const nameOf = async (authenticator: RequestAuthenticator, token: string) => {
  const headers = { authorization: `Bearer ${token}` };
  return (await authenticator.authenticate({ headers, rawHeaders: [] } as unknown as IncomingMessage, '/'))?.name;
};

it('a token is remembered for ten seconds, or until its result is invalid', async () => {
  const authenticator = make();
  for (let count = 0; count < 3; count++) expect(await nameOf(authenticator, 'a')).toBe('a');
  expect(asked).toEqual(['a']);
  clock.advance(10_000);
  await nameOf(authenticator, 'a');
  expect(asked).toEqual(['a', 'a']);
  invalid = new Set(['a']);
  await nameOf(authenticator, 'a');
  expect(asked).toEqual(['a', 'a', 'a']);
});

it('10,000 tokens are remembered, and the oldest is forgotten for the next', async () => {
  const authenticator = make();
  for (let index = 0; index <= 10_000; index++) await nameOf(authenticator, `t${index}`);
  asked = [];
  for (const token of ['t10000', 't2', 't1', 't0']) await nameOf(authenticator, token);
  expect(asked).toEqual(['t0']);
});

it('tokens of 32 MiB together are remembered', async () => {
  const authenticator = make();
  const long = (index: number) => `${String(index).padStart(10, '0')}${'x'.repeat(1024 * 1024 - 100)}`;
  for (let index = 0; index < 40; index++) await nameOf(authenticator, long(index));
  asked = [];
  for (let index = 39; index >= 0; index--) await nameOf(authenticator, long(index));
  // The first 32 were remembered; each of the others replaced one that is not asked for again.
  expect(asked).toHaveLength(8);
  expect(asked[0]).toBe('0000000007');
});

it('tokens of which the time has passed are forgotten with the next token', async () => {
  users = [];
  const authenticator = make();
  for (const token of ['a', 'b']) await nameOf(authenticator, token);
  clock.advance(5_000);
  for (const token of ['a', 'c']) await nameOf(authenticator, token);
  clock.advance(5_000);
  await nameOf(authenticator, 'd');
  await collectGarbage();
  expect(users.map((user) => user.deref() !== undefined)).toEqual([false, false, true, true]);
  expect(await nameOf(authenticator, 'c')).toBe('c');
});
