import type { KubeObject } from '../../machinery/kube-object.js';
import { scaleSubresource } from './scale-subresource.js';

const objectOf = (spec: unknown) => ({ kind: 'A', apiVersion: 'v1', metadata: { name: 'a' }, spec }) as KubeObject;
const replicasIn = (spec: unknown, path: string) => {
  const subresource = scaleSubresource({ specReplicas: path.split('.'), statusReplicas: ['status', 'replicas'] });
  return subresource.view(objectOf(spec))['spec'];
};

it.each<[path: string, spec: unknown, replicas: number]>([
  ['spec.replicas', { replicas: 3 }, 3],
  ['spec.inner.replicas', { inner: { replicas: 3 } }, 3],
  ['spec.inner.replicas', { inner: 'text' }, 0],
  ['spec.inner.length', { inner: [1, 2] }, 0],
  ['spec.constructor.length', {}, 0],
])('reads spec.replicas from %s of %j', (path, spec, replicas) => expect(replicasIn(spec, path)).toEqual({ replicas }));

it.each(['replicas', 'inner.replicas', 'constructor.replicas', '__proto__.replicas'])(
  'put() changes only spec.%s',
  (path) => {
    const specReplicas = `spec.${path}`.split('.');
    const subresource = scaleSubresource({ specReplicas, statusReplicas: ['status', 'replicas'] });
    const view = { ...objectOf({ replicas: 4 }), kind: 'Scale' };
    const changed = subresource.put(objectOf({ other: 1 }), view);
    expect(subresource.view(changed)['spec']).toEqual({ replicas: 4 });
    expect((changed['spec'] as Record<string, unknown>)['other']).toBe(1);
    expect(({} as Record<string, unknown>)['replicas']).toBeUndefined();
  },
);
