import { admitted, hooksOf, podOf, type WriteGiven } from '../../../test/harness/admission.js';
import { podResizeValidator } from './pod-resize-validator.plugin.js';

const node = (labels: Record<string, string> = {}) => ({
  metadata: { name: 'n', labels },
  status: { allocatable: { cpu: '2', memory: '1Gi' } },
});
const pod = (cpu: string, memory = '128Mi', nodeName = 'n') =>
  podOf({ nodeName, containers: [{ name: 'c', resources: { requests: { cpu, memory } } }] });
type Object = ReturnType<typeof podOf>;
const resize = (object: Object, old: Object = pod('1'), subresource = 'resize'): WriteGiven => ({
  of: `/pods/${subresource}`,
  object,
  old,
});
const refusalOf = async (write: WriteGiven, nodes = [node()]) =>
  (await admitted(hooksOf(podResizeValidator, { known: { '/nodes': nodes } }), write)).refused;

const lacking = "node didn't have enough allocatable resources: ";

it.each<[string, WriteGiven, string | undefined]>([
  ['as much as the node can allocate', resize(pod('2')), undefined],
  ['more cpu', resize(pod('2500m')), `${lacking}cpu, requested: 2500, allocatable: 2000`],
  [
    'more cpu and memory',
    resize(pod('3', '2Gi')),
    `${lacking}cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
  ],
  ['an unchanged spec', resize(pod('9'), pod('9')), undefined],
  ['a Pod on no node', resize(pod('9', '1Gi', ''), pod('1', '1Gi', '')), undefined],
  ['a node that does not exist', resize(pod('1', '1Gi', 'gone')), 'node "gone" not found'],
  ['an update of the status', resize(pod('9'), pod('1'), 'status'), undefined],
])('a resize: %s', async (_what, write, want) => expect(await refusalOf(write)).toBe(want));

it.each([
  ['linux', undefined],
  ['windows', 'pod resize is only supported on linux nodes, node "n" is "windows"'],
])('a resize on a node that runs %s', async (os, want) =>
  expect(await refusalOf(resize(pod('2')), [node({ 'kubernetes.io/os': os })])).toBe(want),
);
