import { admitted, hooksOf, podOf } from '../../../test/harness/admission.js';
import { runtimeClass } from './runtime-class.plugin.js';

const known = {
  'node.k8s.io/runtimeclasses': [
    { metadata: { name: 'plain' }, handler: 'h' },
    { metadata: { name: 'heavy' }, handler: 'h', overhead: { podFixed: { cpu: '250m', memory: '64Mi' } } },
    {
      metadata: { name: 'special' },
      handler: 'h',
      scheduling: {
        nodeSelector: { kind: 'vm' },
        tolerations: [{ key: 'vm', operator: 'Exists', effect: 'NoSchedule' }],
      },
    },
  ],
};
const admit = (spec: object) => admitted(hooksOf(runtimeClass, { known }), { object: podOf(spec) });

it.each([
  { name: 'nothing without a class', spec: {}, want: podOf().spec },
  {
    name: 'nothing from a class without overhead and scheduling',
    spec: { runtimeClassName: 'plain' },
    want: podOf({ runtimeClassName: 'plain' }).spec,
  },
  {
    name: 'the overhead of the class',
    spec: { runtimeClassName: 'heavy' },
    want: { overhead: { cpu: '250m', memory: '64Mi' } },
  },
  {
    name: 'the overhead of the class over an equal one of the Pod',
    spec: { runtimeClassName: 'heavy', overhead: { cpu: '0.25', memory: '64Mi' } },
    want: { overhead: { cpu: '250m', memory: '64Mi' } },
  },
  {
    name: 'the node selector of the class beside its own',
    spec: { runtimeClassName: 'special', nodeSelector: { a: 'b' } },
    want: { nodeSelector: { a: 'b', kind: 'vm' } },
  },
  {
    name: 'the tolerations of the class before its own',
    spec: { runtimeClassName: 'special', tolerations: [{ key: 'x', operator: 'Exists' }] },
    want: {
      tolerations: [
        { key: 'vm', operator: 'Exists', effect: 'NoSchedule' },
        { key: 'x', operator: 'Exists' },
      ],
    },
  },
  {
    name: 'no toleration that its own ones cover',
    spec: { runtimeClassName: 'special', tolerations: [{ key: 'vm', operator: 'Exists' }] },
    want: { tolerations: [{ key: 'vm', operator: 'Exists' }] },
  },
])('a Pod gets $name', async ({ spec, want }) => {
  const { object, refused } = await admit(spec);
  expect(refused).toBeUndefined();
  expect(object).toMatchObject({ spec: want });
});

it.each([
  {
    name: 'an unknown class',
    spec: { runtimeClassName: 'none' },
    want: 'pod rejected: RuntimeClass "none" not found',
  },
  {
    name: 'an overhead without a class',
    spec: { overhead: { cpu: '1' } },
    want: 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  },
  {
    name: 'another overhead than that of the class',
    spec: { runtimeClassName: 'heavy', overhead: { cpu: '1' } },
    want: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  },
  {
    name: 'a node selector that conflicts with the class',
    spec: { runtimeClassName: 'special', nodeSelector: { kind: 'metal' } },
    want: 'conflict: runtimeClass.scheduling.nodeSelector[kind] = vm; pod.spec.nodeSelector[kind] = metal',
  },
])('refuses $name', async ({ spec, want }) => {
  expect((await admit(spec)).refused).toBe(want);
});
