import { admitted, hooksOf, podOf } from '../../../test/harness/admission.js';
import { ManualClock } from '../../std/clock.js';
import { plainConfiguration } from '../configuration/admission-configuration.js';
import type { EventLimitType } from '../configuration/event-rate-limit.configuration.js';
import { eventRateLimit } from './event-rate-limit.plugin.js';
import { podNodeSelector } from './pod-node-selector.plugin.js';

describe('PodNodeSelector', () => {
  const annotated = (selector?: string) => ({
    '/namespaces': [
      {
        metadata: {
          name: 'ns',
          ...(selector !== undefined && { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': selector } }),
        },
      },
    ],
  });
  const nodeSelectors = {
    clusterDefault: new Map([['zone', 'a']]),
    allowed: new Map([['ns', new Map([['disk', 'ssd']])]]),
  };
  const configuration = { ...plainConfiguration, nodeSelectors };

  it.each([
    {
      name: 'adds the node selector of the namespace annotation',
      known: annotated('a=b, c=d'),
      own: undefined,
      want: { a: 'b', c: 'd' },
    },
    {
      name: 'adds the cluster default if the namespace has no annotation',
      known: annotated(),
      own: { x: 'y' },
      want: { x: 'y', zone: 'a' },
    },
    { name: 'adds nothing if the annotation is empty', known: annotated(''), own: { x: 'y' }, want: { x: 'y' } },
    {
      name: 'refuses a Pod whose nodeSelector conflicts with the namespace',
      known: annotated('a=b'),
      own: { a: 'c' },
      want: 'pod node label selector conflicts with its namespace node label selector',
    },
    {
      name: 'refuses a nodeSelector outside the whitelist of the namespace',
      known: annotated(),
      own: { disk: 'hdd' },
      want: 'pod node label selector labels conflict with its namespace whitelist',
    },
  ])('$name', async ({ known, own, want }) => {
    const plugin = hooksOf(podNodeSelector, { known, configuration });
    const { refused, object } = await admitted(plugin, { object: podOf({ ...(own && { nodeSelector: own }) }) });
    if (typeof want === 'string') expect(refused).toBe(want);
    else expect(object).toMatchObject({ spec: { nodeSelector: want } });
  });
});

describe('EventRateLimit', () => {
  const event = (component: string) => ({
    metadata: { name: 'e' },
    source: { component },
    involvedObject: { name: 'o' },
  });
  const limited = (type: EventLimitType) => {
    const clock = new ManualClock();
    const configuration = { ...plainConfiguration, eventLimits: [{ type, perSecond: 1, burst: 2, bucketsMax: 10 }] };
    return { clock, plugin: hooksOf(eventRateLimit, { clock, configuration }) };
  };

  it.each<{ type: EventLimitType; users: string[]; components: string[]; isLast: boolean }>([
    { type: 'Server', users: ['ann', 'bob', 'ann'], components: ['a', 'b', 'c'], isLast: false },
    { type: 'User', users: ['ann', 'ann', 'bob'], components: ['a', 'a', 'a'], isLast: true },
    { type: 'User', users: ['ann', 'ann', 'ann'], components: ['a', 'b', 'c'], isLast: false },
    { type: 'Namespace', users: ['ann', 'bob', 'joe'], components: ['a', 'b', 'c'], isLast: false },
    { type: 'SourceAndObject', users: ['ann', 'ann', 'ann'], components: ['a', 'a', 'b'], isLast: true },
    { type: 'SourceAndObject', users: ['ann', 'bob', 'joe'], components: ['a', 'a', 'a'], isLast: false },
  ])(
    'limit of type $type, users $users, sources $components: the third Event is accepted: $isLast',
    async ({ type, users, components, isLast }) => {
      const { plugin } = limited(type);
      const outcomes: boolean[] = [];
      for (const [index, name] of users.entries()) {
        const write = { of: '/events', object: event(components[index]!), user: { name } };
        outcomes.push((await admitted(plugin, write)).refused === undefined);
      }
      expect(outcomes).toEqual([true, true, isLast]);
    },
  );

  it('accepts Events again when tokens have been added; both event groups share the limit', async () => {
    const { plugin, clock } = limited('Server');
    const send = async () => (await admitted(plugin, { of: 'events.k8s.io/events', object: event('a') })).refused;
    expect([await send(), await send(), await send()]).toEqual([
      undefined,
      undefined,
      'limit reached on type of events',
    ]);
    clock.advance(1000);
    expect([await send(), await send()]).toEqual([undefined, 'limit reached on type of events']);
  });

  it('does not limit other resources', async () => {
    const { plugin } = limited('Server');
    for (let sent = 0; sent < 5; sent++) expect((await admitted(plugin, { object: podOf() })).refused).toBeUndefined();
  });
});
