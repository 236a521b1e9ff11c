import { pod, podStrategy } from '../../../../test/harness/pods.js';

const container = { name: 'c', image: 'i' };

it('new Pod gets a warning for each questionable field', () => {
  const object = pod({
    containers: [
      {
        ...container,
        ports: [{ containerPort: 1 }, { containerPort: 1 }],
        env: [{ name: 'a' }, { name: 'a' }],
        resources: { requests: { memory: '100m' } },
      },
    ],
    volumes: [
      { name: 'v', rbd: {} },
      { name: 'w', projected: { sources: [{}] } },
    ],
  });
  object.metadata.name = 'a.b';
  expect(podStrategy.warnings!(object, undefined)).toEqual([
    'spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+',
    'volume "w" (Projected) has no sources provided',
    'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    'spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]',
    'spec.containers[0].env[1]: hides previous definition of "a", which may be dropped when using apply',
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});
