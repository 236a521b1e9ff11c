import { namingProfile } from '../../config/naming-profile.js';
import { isRemoved } from './api-lifecycle.js';
import { removedApis } from './removed-apis.js';

const removed = removedApis(namingProfile('kubernetes'));
const keyOf = (api: { group: string; version: string; kind: string }) => `${api.group}/${api.version} ${api.kind}`;

test.each([
  ['flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema', '1.32', 'flowcontrol.apiserver.k8s.io/v1 FlowSchema'],
  ['storage.k8s.io/v1beta1 CSIStorageCapacity', '1.27', 'storage.k8s.io/v1 CSIStorageCapacity'],
  ['autoscaling/v2beta2 HorizontalPodAutoscaler', '1.26', 'autoscaling/v2 HorizontalPodAutoscaler'],
  ['policy/v1beta1 PodSecurityPolicy', '1.25', undefined],
  ['extensions/v1beta1 Ingress', '1.22', 'networking.k8s.io/v1 Ingress'],
  ['apps/v1beta1 StatefulSet', '1.16', 'apps/v1 StatefulSet'],
])('%s was removed in %s', (key, release, replacement) => {
  const [found] = removed.filter((api) => keyOf(api) === key);
  expect([found?.removed, found?.replacement && keyOf(found.replacement)]).toEqual([release, replacement]);
});

test('every listed API is removed, and every replacement is served', () => {
  expect(removed.filter((api) => !isRemoved({ removed: api.removed }))).toEqual([]);
  const gone = new Set(removed.map(keyOf));
  expect(removed.filter(({ replacement }) => replacement && gone.has(keyOf(replacement)))).toEqual([]);
});
