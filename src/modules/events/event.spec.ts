import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { fromCoreEvent, toCoreEvent } from './event.converter.js';
import { eventStrategy } from './event.strategy.js';
import { eventsResources } from './events.resources.js';

const naming = namingProfile('kubernetes');
const strategy = eventStrategy(naming);
const time = '2026-01-01T00:00:00.000000Z';

const core = (rest: object = {}): KubeObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'e', namespace: 'shop' },
  eventTime: time,
  involvedObject: { namespace: 'shop' },
  reportingComponent: 'example.com/c',
  reportingInstance: 'i',
  action: 'Did',
  reason: 'Because',
  type: 'Normal',
  ...rest,
});

it('fields are renamed between core/v1 and events.k8s.io/v1', () => {
  const event = core({ message: 'm', source: {}, firstTimestamp: null, lastTimestamp: null, count: 2 });
  expect(fromCoreEvent(event)).toEqual({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: event.metadata,
    eventTime: time,
    regarding: { namespace: 'shop' },
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    action: 'Did',
    reason: 'Because',
    type: 'Normal',
    note: 'm',
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    deprecatedCount: 2,
  });
  expect(toCoreEvent(fromCoreEvent(event))).toEqual(event);
});

it('an empty reporter of core/v1 is left out in events.k8s.io/v1', () =>
  expect(fromCoreEvent(core({ reportingComponent: '', reportingInstance: '' }))).not.toHaveProperty(
    'reportingController',
  ));

const long = (length: number) => 'x'.repeat(length);
it.each<[string, object, string[]]>([
  ['all required fields', {}, []],
  ['an object of another namespace', { involvedObject: { namespace: 'other' } }, []],
  ['an object without a namespace', { involvedObject: {} }, ['involvedObject.namespace: Invalid value: ""']],
  ['no time', { eventTime: null }, ['eventTime: Required value']],
  [
    'no reporter',
    { reportingComponent: '' },
    ['reportingController: Required', 'must be non-empty', 'must consist of'],
  ],
  ['a bad reporter', { reportingComponent: 'a b' }, ['reportingController: Invalid value: "a b"']],
  ['no instance', { reportingInstance: '' }, ['reportingInstance: Required value']],
  ['no action', { action: undefined }, ['action: Required value']],
  ['no reason', { reason: undefined }, ['reason: Required value']],
  ['a long reason', { reason: long(129) }, ['reason: Invalid value: "": can have at most 128 characters']],
  ['a long note', { message: long(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
  ['another type', { type: 'X' }, ['type: Invalid value: "": has invalid value: X']],
  ['old fields', { count: 2, source: { host: 'h' } }, ['count: Invalid', 'source: Invalid']],
  ['a series of one', { series: { count: 1, lastObservedTime: time } }, ['series.count: Invalid value: "": should be']],
  ['a series without time', { series: { count: 2 } }, ['series.lastObservedTime: Required value']],
])('an Event with %s is validated', (_what, rest, want) =>
  expect(refusals(strategy, core(rest))).toEqual(want.map((text) => expect.stringContaining(text))),
);

it.each<[object, string[]]>([
  [{ series: { count: 5, lastObservedTime: time } }, []],
  [{ metadata: { name: 'e', namespace: 'shop', labels: { a: 'b' } } }, []],
  [{ reason: 'Other' }, ['reason: Invalid value: "Other": field is immutable']],
  [{ message: 'Other' }, ['message: Invalid value: "Other": field is immutable']],
  [{ reportingComponent: 'other' }, ['reportingController: Invalid value: "other": field is immutable']],
])('an update by %j is validated', (change, want) =>
  expect(updateRefusals(strategy, core(change), core())).toEqual(want),
);

it('the table is the same in both versions', () => {
  const [definition] = eventsResources(naming);
  const event = core({ message: 'hello', involvedObject: { kind: 'Pod', name: 'p' } });
  const cells = definition!.table.cells(fromCoreEvent(event), { nowMs: 0 });
  expect(cells).toEqual(definition!.table.cells(event, { nowMs: 0 }));
  expect(cells).toEqual(expect.arrayContaining(['pod/p', 'hello', 'example.com/c, i']));
});
