import { admitted, hooksOf } from '../../../test/harness/admission.js';
import { alwaysAdmit, alwaysDeny } from './always.plugin.js';
import { denyServiceExternalIps } from './deny-service-external-ips.plugin.js';
import { taintNodesByCondition } from './taint-nodes-by-condition.plugin.js';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

it.each([
  {
    name: 'gets the not-ready taint besides its own',
    given: [{ key: 'a', effect: 'NoExecute' }],
    want: [{ key: 'a', effect: 'NoExecute' }, notReady],
  },
  { name: 'with the not-ready taint is not changed', given: [notReady], want: [notReady] },
])('a new Node $name', async ({ given: taints, want }) => {
  const object = { metadata: { name: 'n' }, spec: { taints } };
  const outcome = await admitted(hooksOf(taintNodesByCondition), { of: '/nodes', clusterWide: true, object });
  expect(outcome.object).toMatchObject({ spec: { taints: want } });
});

const service = (...externalIPs: string[]) => ({ metadata: { name: 's' }, spec: { externalIPs } });

it.each([
  { name: 'no addresses', object: service(), old: undefined, isRefused: false },
  { name: 'a new address', object: service('1.2.3.4'), old: undefined, isRefused: true },
  {
    name: 'an address that the Service has already',
    object: service('1.2.3.4'),
    old: service('1.2.3.4', '5.6.7.8'),
    isRefused: false,
  },
  { name: 'a changed address', object: service('9.9.9.9'), old: service('1.2.3.4'), isRefused: true },
])('DenyServiceExternalIPs refuses $name: $isRefused', async ({ object, old, isRefused }) => {
  const { refused } = await admitted(hooksOf(denyServiceExternalIps), { of: '/services', object, ...(old && { old }) });
  expect(refused).toBe(isRefused ? 'Use of external IPs is denied by admission control' : undefined);
});

it.each([
  [alwaysAdmit, undefined],
  [alwaysDeny, 'admission control is denying all modifications'],
])('$name', async (plugin, want) => {
  expect((await admitted(hooksOf(plugin), { object: { metadata: { name: 'x' } } })).refused).toBe(want);
});
