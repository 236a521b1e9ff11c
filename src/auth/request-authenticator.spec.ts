import type { IncomingMessage } from 'node:http';
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
const byName: Authenticator = {
  reads: 'bearer token',
  authenticate({ bearerToken = '' }) {
    const name = bearerToken.slice(0, 10);
    asked.push(name);
    return { user: { name, uid: '', groups: [], extra: {} }, isStillValid: () => !invalid.has(name) };
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
