import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import type { Mutable } from '../machinery/mutable.js';
import { conform } from '../typed/conform.js';
import { Catalog } from './catalog.js';
import type { Pod, PodSpec } from './types/core.v1.js';

const podType = new Catalog(namingProfile('kubernetes')).kind('', 'v1', 'Pod')!;

it('a conformed object is read by the fields of its type, and no others compile', () => {
  const submitted = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: { activeDeadlineSeconds: 2n ** 60n, containers: [{ ports: [{ hostPort: 80 }] }] },
  } as unknown as JsonObject;
  const pod: Mutable<Pod> = conform(submitted, podType).object as unknown as KubeObject;
  expect(pod.spec?.containers?.[0]?.ports?.[0]?.hostPort).toBe(80);
  // @ts-expect-error -- no such field
  expect(pod.spec?.container).toBeUndefined();
  // @ts-expect-error -- an int64 may be a bigint
  const seconds: number | undefined = pod.spec?.activeDeadlineSeconds;
  expect(typeof seconds).toBe('bigint');

  const spec: PodSpec = pod.spec!;
  // @ts-expect-error -- read-only: only what defaults and prepares gets a Mutable
  spec.nodeName = 'n';
  pod.spec!.containers ??= [];
  const object: KubeObject = pod;
  expect(object['spec']).toMatchObject({ nodeName: 'n', containers: [{ name: '' }] });
});
