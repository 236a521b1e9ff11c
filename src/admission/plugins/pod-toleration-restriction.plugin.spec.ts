import { admitted, hooksOf } from '../../../test/harness/admission.js';
import type { Int64 } from '../../machinery/int64.js';
import { plainConfiguration } from '../configuration/admission-configuration.js';
import { plainTolerations, type TolerationConfiguration } from '../configuration/pod-tolerations.configuration.js';
import { podTolerationRestriction } from './pod-toleration-restriction.plugin.js';

const a = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };
const b = { key: 'b', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
const anyB = { key: 'b', operator: 'Exists', effect: 'NoSchedule' };
const pressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
const lasting = (tolerationSeconds: Int64) => ({
  key: 'c',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});
const refusal =
  'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';

interface Case {
  readonly name: string;
  readonly defaults?: object[] | string;
  readonly whitelist?: object[] | string;
  readonly configured?: Partial<TolerationConfiguration>;
  readonly given?: object[];
  readonly hasRequests?: boolean;
  readonly isUpdate?: boolean;
  readonly want: object[] | undefined;
  readonly refused?: string;
}

it.each<Case>([
  { name: 'no tolerations without defaults', want: undefined },
  { name: 'its own tolerations without defaults', given: [b], want: [b] },
  { name: 'the defaults of the namespace', defaults: [a], want: [a] },
  { name: 'defaults of the namespace and its own tolerations', defaults: [a], given: [b], want: [a, b] },
  { name: 'the defaults of the configuration if the namespace has none', configured: { default: [a] }, want: [a] },
  {
    name: 'no tolerations if the annotation is an empty list',
    defaults: [],
    configured: { default: [a] },
    want: undefined,
  },
  { name: 'memory pressure if it has requests', hasRequests: true, given: [b], want: [b, pressure] },
  { name: 'no defaults on updates', defaults: [a], isUpdate: true, given: [b], want: [b] },
  { name: 'tolerations within the whitelist', whitelist: [anyB], given: [b], want: [b] },
  {
    name: 'refused beyond the whitelist of the namespace',
    whitelist: [b],
    given: [anyB],
    want: undefined,
    refused: refusal,
  },
  {
    name: 'refused with more seconds than the whitelist allows, beyond 2^53 too',
    whitelist: [lasting(300)],
    given: [lasting(2n ** 53n + 1n)],
    want: undefined,
    refused: refusal,
  },
  {
    name: 'tolerations for ever if tolerationSeconds of the whitelist is null',
    whitelist: [{ ...lasting(0), tolerationSeconds: null }],
    given: [lasting(2n ** 53n + 1n)],
    want: [lasting(2n ** 53n + 1n)],
  },
  {
    name: 'refused if tolerationSeconds of the whitelist is a text',
    whitelist: [{ ...lasting(0), tolerationSeconds: '300' }],
    given: [lasting(1)],
    want: undefined,
    refused:
      'the annotation scheduler.alpha.kubernetes.io/tolerationsWhitelist of the namespace is not a list of tolerations',
  },
  {
    name: 'refused beyond the whitelist of the configuration',
    configured: { whitelist: [b] },
    given: [a],
    want: undefined,
    refused: refusal,
  },
  {
    name: 'refused if the annotation is not JSON',
    defaults: '[{',
    want: undefined,
    refused:
      'the annotation scheduler.alpha.kubernetes.io/defaultTolerations of the namespace is not a list of tolerations',
  },
  {
    name: 'refused if the whitelist of the namespace is a mapping',
    whitelist: '{"key":"a"}',
    given: [a],
    want: undefined,
    refused:
      'the annotation scheduler.alpha.kubernetes.io/tolerationsWhitelist of the namespace is not a list of tolerations',
  },
])('a Pod has $name', async (row) => {
  const { defaults, whitelist, configured, given, hasRequests, isUpdate, want, refused } = row;
  const text = (list: object[] | string) => (typeof list === 'string' ? list : JSON.stringify(list));
  const annotations = {
    ...(defaults && { 'scheduler.alpha.kubernetes.io/defaultTolerations': text(defaults) }),
    ...(whitelist && { 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': text(whitelist) }),
  };
  const known = { '/namespaces': [{ metadata: { name: 'ns', annotations } }] };
  const tolerations = { ...plainTolerations, ...configured };
  const plugin = hooksOf(podTolerationRestriction, { known, configuration: { ...plainConfiguration, tolerations } });
  const resources = hasRequests ? { requests: { cpu: '1' } } : {};
  const object = {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', resources }], ...(given && { tolerations: given }) },
  };
  const outcome = await admitted(plugin, { object, ...(isUpdate && { old: object }) });
  expect(outcome.refused).toBe(refused);
  if (refused === undefined) expect((outcome.object!['spec'] as { tolerations?: object[] }).tolerations).toEqual(want);
});
