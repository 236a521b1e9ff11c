import { admitted, pluginParts } from '../../../test/harness/admission.js';
import { podTolerationRestriction } from './pod-toleration-restriction.plugin.js';

const a = { key: 'a', operator: 'Exists', effect: 'NoSchedule' };
const b = { key: 'b', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
const anyB = { key: 'b', operator: 'Exists', effect: 'NoSchedule' };
const pressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
const refusal =
  'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';

interface Case {
  readonly name: string;
  readonly defaults?: object[] | string;
  readonly whitelist?: object[];
  readonly configured?: Record<string, object[]>;
  readonly given?: object[];
  readonly isSized?: boolean;
  readonly isOld?: boolean;
  readonly want: object[] | undefined;
  readonly refused?: string;
}

it.each<Case>([
  { name: 'nothing said', want: undefined },
  { name: 'what it says, nothing else said', given: [b], want: [b] },
  { name: 'what the namespace says', defaults: [a], want: [a] },
  { name: 'both', defaults: [a], given: [b], want: [a, b] },
  { name: 'what the configuration says', configured: { default: [a] }, want: [a] },
  { name: 'nothing, as the namespace says', defaults: [], configured: { default: [a] }, want: undefined },
  { name: 'little memory, when it asked for some', isSized: true, given: [b], want: [b, pressure] },
  { name: 'what it did, when it is there', defaults: [a], isOld: true, given: [b], want: [b] },
  { name: 'what it may', whitelist: [anyB], given: [b], want: [b] },
  { name: 'more than it may', whitelist: [b], given: [anyB], want: undefined, refused: refusal },
  {
    name: 'more than the configuration lets it',
    configured: { whitelist: [b] },
    given: [a],
    want: undefined,
    refused: refusal,
  },
  {
    name: 'what nobody can read',
    defaults: '[{',
    want: undefined,
    refused:
      'the annotation scheduler.alpha.kubernetes.io/defaultTolerations of the namespace is not a list of tolerations',
  },
])('a Pod tolerates $name', async (row) => {
  const { defaults, whitelist, configured, given, isSized, isOld, want, refused } = row;
  const text = (list: object[] | string) => (typeof list === 'string' ? list : JSON.stringify(list));
  const annotations = {
    ...(defaults && { 'scheduler.alpha.kubernetes.io/defaultTolerations': text(defaults) }),
    ...(whitelist && { 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': text(whitelist) }),
  };
  const known = { '/namespaces': [{ metadata: { name: 'ns', annotations } }] };
  const parts = pluginParts({ known });
  const others = new Map(configured ? [['PodTolerationRestriction', configured]] : []);
  const plugin = podTolerationRestriction({ ...parts, configuration: { others } });
  const resources = isSized ? { requests: { cpu: '1' } } : {};
  const object = {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', resources }], ...(given && { tolerations: given }) },
  };
  const outcome = await admitted(plugin, { object, ...(isOld && { old: object }) });
  expect(outcome.refused).toBe(refused);
  if (refused === undefined) expect((outcome.object!['spec'] as { tolerations?: object[] }).tolerations).toEqual(want);
});
