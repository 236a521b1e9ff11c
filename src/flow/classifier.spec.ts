import type { FlowSchema } from '../catalog/types/flowcontrol.v1.js';
import { namingProfile } from '../config/naming-profile.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user-info.js';
import { ManualClock } from '../std/clock.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { FlowControl } from './flow-control.js';
import { flowObject, levelObject, standardObjects, nodeTurns } from '../../test/harness/flow-objects.js';

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });
const authenticated = (name: string, ...groups: string[]) => user(name, 'system:authenticated', ...groups);

function controlOf(extra: readonly FlowSchema[] = []) {
  const clock = new ManualClock();
  const standard = standardObjects(namingProfile('kubernetes'));
  const control = new FlowControl({
    clock,
    wheel: new TimerWheel(clock),
    turns: nodeTurns,
    seats: 600,
    mandatory: standard.mandatory,
    statsOf: () => undefined,
    watchListEnabled: true,
    sizeBasedEstimates: true,
  });
  const levels = [...standard.all.levels, levelObject('own', { nominalConcurrencyShares: 1 })];
  control.configure({ schemas: [...standard.all.schemas, ...extra], levels });
  return control;
}

const classified = (control: FlowControl, who: UserInfo, method: string, url: string) => {
  const { flow } = control.admit(parseRequestInfo(method, url), who);
  return `${flow.schemaName}/${flow.series.levelName}/${flow.distinguisher}`;
};

const leases = '/apis/coordination.k8s.io/v1/namespaces';
// prettier-ignore
it.each<[UserInfo, string, string, string]>([
  [authenticated('admin', 'system:masters'), 'GET', '/api/v1/pods', 'exempt/exempt/'],
  [user('system:anonymous', 'system:unauthenticated'), 'GET', '/livez', 'probes/exempt/'],
  [user('system:anonymous', 'system:unauthenticated'), 'GET', '/livezz', 'global-default/global-default/system:anonymous'],
  [user('system:anonymous', 'system:unauthenticated'), 'POST', '/livez', 'global-default/global-default/system:anonymous'],
  [authenticated('alice'), 'GET', '/readyz/ping', 'probes/exempt/'],
  [authenticated('alice'), 'GET', '/api/v1/pods', 'global-default/global-default/alice'],
  [authenticated('n', 'system:nodes'), 'PUT', `${leases}/kube-node-lease/leases/n`, 'system-node-high/node-high/n'],
  [authenticated('n', 'system:nodes'), 'PATCH', '/api/v1/nodes/n/status', 'system-node-high/node-high/n'],
  [authenticated('n', 'system:nodes'), 'GET', '/api/v1/nodes/n/proxy', 'system-nodes/system/n'],
  [authenticated('n', 'system:nodes'), 'GET', '/api/v1/pods', 'system-nodes/system/n'],
  [authenticated('system:kube-scheduler'), 'GET', '/api/v1/namespaces/a/pods', 'kube-scheduler/workload-high/a'],
  [authenticated('system:kube-scheduler'), 'GET', `${leases}/x/leases/y`, 'system-leader-election/leader-election/system:kube-scheduler'],
  [authenticated('system:kube-scheduler'), 'GET', `${leases}/x/leases`, 'kube-scheduler/workload-high/x'],
  [authenticated('system:serviceaccount:kube-system:x'), 'GET', '/api/v1/pods', 'kube-system-service-accounts/workload-high/'],
  [authenticated('system:serviceaccount:kube-systemd:x', 'system:serviceaccounts'), 'GET', '/version', 'service-accounts/workload-low/system:serviceaccount:kube-systemd:x'],
  [user('nobody'), 'GET', '/version', 'catch-all/catch-all/'],
])('a request of %j: %s %s is classified', (who, method, url, want) =>
  expect(classified(controlOf(), who, method, url)).toBe(want),
);

it('the FlowSchema with the lowest precedence matches, of equal ones the first name, never one without its level', () => {
  const rules = [{ subjects: [{ kind: 'User', user: { name: 'alice' } }], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a', '/b/*'] }] }]; // prettier-ignore
  const schema = (name: string, matchingPrecedence: number, level = 'own') =>
    flowObject(name, { matchingPrecedence, priorityLevelConfiguration: { name: level }, rules });
  const control = controlOf([schema('z', 500), schema('b', 500), schema('c', 600), schema('a', 400, 'missing')]);
  const alice = authenticated('alice');
  expect(classified(control, alice, 'GET', '/a')).toBe('b/own/');
  expect(classified(control, alice, 'GET', '/a/x')).toBe('b/own/');
  expect(classified(control, alice, 'GET', '/ab')).toBe('global-default/global-default/alice');
  expect(classified(control, alice, 'GET', '/b/x')).toBe('b/own/');
  expect(classified(control, authenticated('bob'), 'GET', '/a')).toBe('global-default/global-default/bob');
});

it('names of prototypes are names like others', () => {
  const rules = [{ subjects: [{ kind: 'User', user: { name: '__proto__' } }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }]; // prettier-ignore
  const spec = { matchingPrecedence: 1000, priorityLevelConfiguration: { name: 'own' }, rules };
  const control = controlOf([flowObject('constructor', spec)]);
  expect(classified(control, authenticated('__proto__'), 'GET', '/version')).toBe('constructor/own/');
  expect(classified(control, authenticated('toString'), 'GET', '/version')).toBe(
    'global-default/global-default/toString',
  );
});
