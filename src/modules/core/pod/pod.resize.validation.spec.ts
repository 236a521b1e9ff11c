import { pod, podStrategy, podSubresources, writeThroughSubresource } from '../../../../test/harness/pods.js';
import { prepared } from '../../../../test/harness/strategies.js';

const { resizeSubresource } = podSubresources;
const container = { name: 'c', image: 'i' };

describe('resize subresource', () => {
  const limits = (amounts: object) => ({ containers: [{ ...container, resources: { limits: amounts } }] });
  const removed = (field: string) =>
    `spec.containers[0].resources.${field}: Forbidden: resource ${field} cannot be removed`;
  const lessQos = 'spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing';
  const init = (amounts: object = { cpu: '1' }, restartPolicy?: string) => ({
    ...limits({ cpu: '1' }),
    initContainers: [
      { name: 'i', image: 'i', resources: { limits: amounts }, ...(restartPolicy && { restartPolicy }) },
    ],
  });
  const restart = { resourceName: 'cpu', restartPolicy: 'RestartContainer' };
  it.each<[object, object, string[]]>([
    [limits({ cpu: '1', memory: '1Gi' }), limits({ cpu: '2', memory: '1Gi' }), []],
    [
      {},
      limits({ cpu: '1' }),
      ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      limits({ cpu: '1' }),
      limits({ cpu: '1', 'ephemeral-storage': '1Gi' }),
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
    [limits({ cpu: '1', memory: '1Gi' }), limits({ cpu: '1' }), [lessQos, removed('requests'), removed('limits')]],
    [init(), init({ cpu: '2' }), ['spec: Forbidden: resources for non-sidecar init containers are immutable']],
    [init({ cpu: '1' }, 'Always'), init({ cpu: '2' }, 'Always'), []],
    [
      { ...limits({ cpu: '1' }), os: { name: 'windows' } },
      limits({ cpu: '2' }),
      [': Forbidden: windows pods cannot be resized'],
    ],
    [
      limits({ cpu: '1' }),
      { containers: [{ ...container, resources: { limits: { cpu: '1' } }, resizePolicy: [restart] }] },
      ['spec: Forbidden: only cpu and memory resources are mutable'],
    ],
  ])('resize from %j to %j has the expected errors', (from, to, want) => {
    const old = prepared(podStrategy, pod(from));
    expect(writeThroughSubresource(resizeSubresource, old, pod({ ...to, nodeName: 'n' })).errors).toEqual(want);
  });
});
