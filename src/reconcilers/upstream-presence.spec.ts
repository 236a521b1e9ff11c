import { AdmissionChain } from '../admission/admission-chain.js';
import { LoopbackClient } from '../client/loopback-client.js';
import { loopbackUser } from '../machinery/user-info.js';
import type { ServedResource } from '../registry/resource-registry.js';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { startOpenKeelson, type OpenKeelson } from '../assembly/start-keelson.js';
import { microTime } from './election/lease-record.js';
import { UpstreamPresence } from './upstream-presence.js';

const name = 'kube-controller-manager';
const namespace = 'kube-system';

let keelson: OpenKeelson;
let leases: ServedResource;
let client: LoopbackClient;
const clock = new ManualClock();
beforeEach(async () => {
  keelson = await startOpenKeelson({ reconciles: false });
  leases = keelson.components.registry.require('coordination.k8s.io', 'v1', 'leases');
  client = new LoopbackClient({ admission: new AdmissionChain([]), user: loopbackUser, fieldManager: 'test' });
});
afterEach(() => keelson.stop());

const spec = (holderIdentity: string, renewedMs = clock.now()) => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  renewTime: microTime(renewedMs),
});
const create = (holder: string, renewedMs?: number) =>
  client.create(leases, {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, namespace },
    spec: spec(holder, renewedMs),
  });
const change = (holder: string, renewedMs?: number) =>
  client.change({ served: leases, namespace, name }, (current) => ({ ...current, spec: spec(holder, renewedMs) }));
const seen = () => keelson.components.feed.consistentRevision({ timeoutMs: 5000 });
const presence = () => new UpstreamPresence({ leases, namespace, name, clock, logger: silentLogger });

it('without a Lease no controller manager is active', () => expect(presence().isActive()).toBe(false));

it.each([
  ['held and renewed', 'kcm', 0, true],
  ['expired', 'kcm', 16_000, false],
  ['released', '', 0, false],
])('with a Lease that is %s at the start, a controller manager is active: %#', async (_what, holder, ageMs, want) => {
  await create(holder, clock.now() - ageMs);
  await seen();
  expect(presence().isActive()).toBe(want);
});

it('a controller manager is active while it renews its Lease, whatever its clock says', async () => {
  const found = presence();
  await create('kcm', 0);
  await seen();
  expect(found.isActive()).toBe(true);
  clock.advance(14_000);
  await change('kcm', 1000);
  await seen();
  clock.advance(14_000);
  expect(found.isActive()).toBe(true);
  clock.advance(1_000);
  expect(found.isActive()).toBe(false);
  await change('kcm', 2000);
  await seen();
  expect(found.isActive()).toBe(true);
  await change('', 3000);
  await seen();
  expect(found.isActive()).toBe(false);
});
