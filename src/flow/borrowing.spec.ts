import type { LimitedPriorityLevelConfiguration } from '../catalog/types/flowcontrol.v1.js';
import { flowObject, levelObject, standardObjects, nodeTurns } from '../../test/harness/flow-objects.js';
import { namingProfile } from '../config/naming-profile.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { ManualClock } from '../std/clock.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { FlowControl } from './flow-control.js';

const get = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/p');
const rules = (name: string) => [
  {
    subjects: [{ kind: 'User', user: { name } }],
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  },
];

function controlOf(own: Readonly<Record<string, LimitedPriorityLevelConfiguration>>, seats = 600) {
  const clock = new ManualClock();
  const { all, mandatory } = standardObjects(namingProfile('kubernetes'));
  const control = new FlowControl({
    clock,
    wheel: new TimerWheel(clock),
    turns: nodeTurns,
    seats,
    mandatory,
    statsOf: () => undefined,
    watchListEnabled: true,
    sizeBasedEstimates: true,
  });
  const names = Object.keys(own);
  const objects = {
    schemas: [
      ...all.schemas,
      ...names.map((name) =>
        flowObject(name, { matchingPrecedence: 500, priorityLevelConfiguration: { name }, rules: rules(name) }),
      ),
    ],
    levels: [...all.levels, ...names.map((name) => levelObject(name, own[name]!))],
  };
  control.configure(objects);
  const userOf = (name: string): UserInfo => ({ name, uid: '', groups: ['system:authenticated'], extra: {} });
  const admit = (name: string, count: number) => {
    const user = userOf(name);
    return Array.from({ length: count }, () => control.admit(get, user));
  };
  const limits = (name: string) => {
    const { queues } = control.levels.get(name)!;
    return { ...queues.limits, current: queues.limit };
  };
  return { clock, control, admit, limits, objects };
}

it('the levels of a new cluster have the seats of kube-apiserver', () => {
  const { control } = controlOf({});
  const shown = Object.fromEntries(Array.from(control.levels, ([name, { queues }]) => [name, queues.limits]));
  expect(shown).toEqual({
    'catch-all': { nominal: 13, lower: 13, upper: 613 },
    exempt: { nominal: 0, lower: 0, upper: 600 },
    'global-default': { nominal: 49, lower: 24, upper: 649 },
    'leader-election': { nominal: 25, lower: 25, upper: 625 },
    'node-high': { nominal: 98, lower: 73, upper: 698 },
    system: { nominal: 74, lower: 50, upper: 674 },
    'workload-high': { nominal: 98, lower: 49, upper: 698 },
    'workload-low': { nominal: 245, lower: 24, upper: 845 },
  });
});

it('a level with demand borrows seats that others lend, and gives them back', () => {
  const { clock, control, admit, limits } = controlOf({ busy: { nominalConcurrencyShares: 20 } });
  const { nominal } = limits('busy');
  const requests = admit('busy', 4 * nominal);
  expect(requests.filter(({ state }) => state === 'executing')).toHaveLength(limits('busy').current);
  clock.advance(10_000);
  control.adjust();
  const busy = limits('busy').current;
  expect(busy).toBeGreaterThan(nominal);
  const sum = [...control.levels.values()].reduce((total, { queues }) => total + queues.limit, 0);
  const nominalSum = [...control.levels.values()].reduce((total, { queues }) => total + queues.limits.nominal, 0);
  expect(Math.abs(sum - nominalSum)).toBeLessThan(8);
  for (const request of requests) request.finish();
  for (let period = 0; period < 300; period++) {
    clock.advance(10_000);
    control.adjust();
  }
  expect(limits('busy').current).toBeLessThan(busy);
  expect(limits('busy').current).toBeGreaterThanOrEqual(limits('busy').lower);
});

it('borrowingLimitPercent bounds what a level borrows, and zero shares have no seats of their own', () => {
  const { limits, admit } = controlOf({
    bounded: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0 },
    none: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0 },
  });
  expect(limits('bounded')).toEqual({ nominal: 3, lower: 3, upper: 3, current: 3 });
  expect(limits('none')).toEqual({ nominal: 0, lower: 0, upper: 0, current: 0 });
  expect(admit('bounded', 5).map(({ state }) => state)).toEqual([
    ...['executing', 'executing', 'executing', 'ended', 'ended'],
  ]);
  expect(admit('none', 2).map(({ state }) => state)).toEqual(['executing', 'ended']);
});

it('a level whose object is deleted stays until its requests have ended', () => {
  const { control, admit, objects } = controlOf({ gone: { nominalConcurrencyShares: 5 } });
  const [request] = admit('gone', 1);
  const isKept = ({ metadata }: { readonly metadata: { readonly name?: string } }) => metadata.name !== 'gone';
  control.configure({ schemas: objects.schemas, levels: objects.levels.filter(isKept) });
  expect(control.levels.get('gone')!.queues.isQuiescing).toBe(true);
  expect(admit('gone', 1)[0]!.flow.schemaName).toBe('global-default');
  request!.finish();
  control.adjust();
  expect(control.levels.has('gone')).toBe(false);
});

it('without any object, the mandatory levels are in force', () => {
  const { control, admit } = controlOf({});
  control.configure({ schemas: [], levels: [] });
  expect([...control.levels.keys()].sort()).toEqual(['catch-all', 'exempt']);
  expect(admit('alice', 1)[0]!.flow.schemaName).toBe('catch-all');
});

it('levels whose fields contradict each other are not in force', () => {
  const { control, objects } = controlOf({});
  const broken = [
    levelObject('no-queues', { nominalConcurrencyShares: 1, limitResponse: { type: 'Queue' } }),
    levelObject('hand', { limitResponse: { type: 'Queue', queuing: { queues: 2, handSize: 3, queueLengthLimit: 1 } } }),
    { ...levelObject('exempt-type', {}), spec: { type: 'Exempt', exempt: {} } },
    { ...levelObject('nothing', {}), spec: {} },
  ];
  control.configure({ ...objects, levels: [...objects.levels, ...broken] });
  expect([...control.levels.keys()].filter((name) => broken.some(({ metadata }) => metadata.name === name))).toEqual(
    [],
  );
});
