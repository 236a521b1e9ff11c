import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals } from '../../../test/harness/strategies.js';
import { eventStrategy } from './event.strategy.js';
import { eventTable } from './event.table.js';

const event = (rest: object, namespace = 'shop'): KubeObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'A_', namespace },
  ...rest,
});

it('create sets absent times and reporters to null and empty', () => {
  const involvedObject = { namespace: 'shop' };
  expect(prepared(eventStrategy, event({ involvedObject }))).toEqual(
    event({
      involvedObject,
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    }),
  );
});

const mismatch = (namespace: string) => [
  `involvedObject.namespace: Invalid value: "${namespace}": does not match event.namespace`,
];
it.each<[string, object, string[]]>([
  ['shop', { namespace: 'shop' }, []],
  ['shop', { namespace: 'other' }, mismatch('other')],
  ['shop', {}, mismatch('')],
  ['default', {}, []],
])('create in namespace %s of an event about an object in %j', (namespace, involvedObject, want) =>
  expect(refusals(eventStrategy, event({ involvedObject }, namespace))).toEqual(want),
);

const nowMs = Date.parse('2026-01-01T00:10:00Z');
it.each<[string, object, unknown[]]>([
  [
    'counted by timestamps',
    {
      involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{c}' },
      reason: 'Started',
      message: 'Started c\n',
      source: { component: 'kubelet', host: 'n1' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:09:00Z',
      count: 3,
      type: 'Normal',
    },
    ['60s', 'Normal', 'Started', 'pod/p', 'spec.containers{c}', 'kubelet, n1', 'Started c', '10m', 3, 'A_'],
  ],
  [
    'counted as a series',
    {
      involvedObject: { kind: 'Pod', name: 'p' },
      reportingComponent: 'example.com/c',
      reportingInstance: 'i',
      eventTime: '2026-01-01T00:00:00.123456Z',
      series: { count: 4, lastObservedTime: '2026-01-01T00:09:50.000001Z' },
    },
    ['10s', '', '', 'pod/p', '', 'example.com/c, i', '', '9m59s', 4, 'A_'],
  ],
  ['without fields', {}, ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'A_']],
])('table row of an event %s', (_case, rest, want) => expect(eventTable.cells(event(rest), { nowMs })).toEqual(want));
