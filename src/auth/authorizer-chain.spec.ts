import { Deferred } from '../std/deferred.js';
import { authorize, noOpinion, rulesFor, type Authorization, type AuthorizationAttributes } from './authorizer.js';
import { AuthorizerChain, LiveAuthorizers } from './authorizer-chain.js';

const user = { name: 'u', uid: '', groups: [], extra: {} };
const attributes: AuthorizationAttributes = {
  ...{ user, verb: 'get', isResourceRequest: true, group: '', version: 'v1', resource: 'pods' },
  ...{ subresource: '', namespace: '', name: '', path: '' },
};
const allow: Authorization = { decision: 'allow', reason: 'new' };

/** A chain of one authorizer that answers later, and one that asserts that it was not closed before it is asked. */
function world() {
  const state = { isClosed: false, askedClosed: false };
  const first = new Deferred<Authorization>();
  const old = new AuthorizerChain([
    { name: 'later', authorize: () => first.promise },
    {
      name: 'second',
      async authorize() {
        state.askedClosed ||= state.isClosed;
        await Promise.resolve();
        return { decision: 'deny', reason: 'old' };
      },
    },
  ]);
  const live = new LiveAuthorizers(old);
  const replace = () =>
    live.replace(new AuthorizerChain([{ name: 'new', authorize: () => allow }]), () => {
      state.isClosed = true;
    });
  return { state, first, live, replace };
}

it('a decision that has begun ends with the authorizers that it began with', async () => {
  const { first, live, replace } = world();
  const before = authorize(live, attributes);
  replace();
  expect(authorize(live, attributes)).toBe(allow);
  first.resolve(noOpinion);
  expect(await before).toEqual({ decision: 'deny', reason: 'old' });
});

it('old authorizers are closed after their last decision', async () => {
  const { state, first, live, replace } = world();
  const decisions = [authorize(live, attributes), authorize(live, attributes)];
  replace();
  expect(state.isClosed).toBe(false);
  first.resolve(noOpinion);
  await decisions[0];
  await decisions[1];
  expect(state).toEqual({ isClosed: true, askedClosed: false });
});

it('old authorizers are closed after a decision that failed', async () => {
  const { state, first, live, replace } = world();
  const decision = authorize(live, attributes);
  replace();
  first.reject(new Error('broken'));
  await expect(decision).rejects.toThrow('broken');
  expect(state.isClosed).toBe(true);
});

it('old authorizers without a decision are closed at once', () => {
  const { state, replace } = world();
  replace();
  expect(state.isClosed).toBe(true);
});

it('old authorizers are kept open for a request that holds them, and for a list of rules', async () => {
  const { state, live, replace } = world();
  const held = live.chain;
  held.hold();
  const rules = rulesFor(live, user, 'shop');
  replace();
  expect((await rules).problem).toContain('later authorizer does not support user rule resolution');
  expect([state.isClosed, live.chain === held]).toEqual([false, false]);
  held.release();
  expect(state.isClosed).toBe(true);
});
