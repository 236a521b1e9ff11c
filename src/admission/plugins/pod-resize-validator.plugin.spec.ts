import { admitted, pluginParts, podOf, type WriteGiven } from '../../../test/harness/admission.js';
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
  (await admitted(podResizeValidator(pluginParts({ known: { '/nodes': nodes } })), write)).refused;

const lacking = "node didn't have enough allocatable resources: ";

it.each<[string, WriteGiven, string | undefined]>([
  ['what the node has', resize(pod('2')), undefined],
  ['more processors', resize(pod('2500m')), `${lacking}cpu, requested: 2500, allocatable: 2000`],
  [
    'more of both',
    resize(pod('3', '2Gi')),
    `${lacking}cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824`,
  ],
  ['nothing else than it had', resize(pod('9'), pod('9')), undefined],
  ['a Pod on no node', resize(pod('9', '1Gi', ''), pod('1', '1Gi', '')), undefined],
  ['a node that is gone', resize(pod('1', '1Gi', 'gone')), 'node "gone" not found'],
  ['an update of another part', resize(pod('9'), pod('1'), 'status'), undefined],
])('%s', async (_what, write, want) => expect(await refusalOf(write)).toBe(want));

it.each([
  ['linux', undefined],
  ['windows', 'pod resize is only supported on linux nodes, node "n" is "windows"'],
])('a Pod on a node with %s', async (os, want) =>
  expect(await refusalOf(resize(pod('2')), [node({ 'kubernetes.io/os': os })])).toBe(want),
);
