import { admitted, pluginParts } from '../../../test/harness/admission.js';
import { alwaysAdmit, alwaysDeny } from './always.plugin.js';
import { denyServiceExternalIps } from './deny-service-external-ips.plugin.js';
import { taintNodesByCondition } from './taint-nodes-by-condition.plugin.js';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

it.each([
  {
    name: 'is tainted',
    given: [{ key: 'a', effect: 'NoExecute' }],
    want: [{ key: 'a', effect: 'NoExecute' }, notReady],
  },
  { name: 'is tainted once', given: [notReady], want: [notReady] },
])('a new node $name', async ({ given: taints, want }) => {
  const object = { metadata: { name: 'n' }, spec: { taints } };
  const outcome = await admitted(taintNodesByCondition(pluginParts()), { of: '/nodes', clusterWide: true, object });
  expect(outcome.object).toMatchObject({ spec: { taints: want } });
});

const service = (...externalIPs: string[]) => ({ metadata: { name: 's' }, spec: { externalIPs } });

it.each([
  { name: 'none', object: service(), old: undefined, isRefused: false },
  { name: 'one', object: service('1.2.3.4'), old: undefined, isRefused: true },
  { name: 'one that was there', object: service('1.2.3.4'), old: service('1.2.3.4', '5.6.7.8'), isRefused: false },
  { name: 'another one', object: service('9.9.9.9'), old: service('1.2.3.4'), isRefused: true },
])('DenyServiceExternalIPs refuses $name: $isRefused', async ({ object, old, isRefused }) => {
  const { refused } = await admitted(denyServiceExternalIps, { of: '/services', object, ...(old && { old }) });
  expect(refused).toBe(isRefused ? 'Use of external IPs is denied by admission control' : undefined);
});

it.each([
  [alwaysAdmit, undefined],
  [alwaysDeny, 'admission control is denying all modifications'],
])('$name', async (plugin, want) => {
  expect((await admitted(plugin, { object: { metadata: { name: 'x' } } })).refused).toBe(want);
});
