import { parseRuntimeKey, runtimeConfigProblems, type RuntimeConfig, type RuntimeKey } from './runtime-config.js';

const version = (group: string, name: string): RuntimeKey => ({ type: 'version', group, version: name });
const resource = (group: string, name: string, plural: string): RuntimeKey => ({
  ...{ type: 'resource', group, version: name },
  resource: plural,
});

test.each<[string, RuntimeKey | undefined]>([
  ['api/all', { type: 'level', level: 'all' }],
  ['api/ga', { type: 'level', level: 'ga' }],
  ['api/beta', { type: 'level', level: 'beta' }],
  ['api/alpha', { type: 'level', level: 'alpha' }],
  ['v1', version('', 'v1')],
  ['/v1', version('', 'v1')],
  ['api/v1', version('', 'v1')],
  ['api/v1/pods', resource('', 'v1', 'pods')],
  ['v1/pods', resource('', 'v1', 'pods')],
  ['apps/v1', version('apps', 'v1')],
  ['a.b-c.example/v1beta1', version('a.b-c.example', 'v1beta1')],
  ['apps/v1/deployments', resource('apps', 'v1', 'deployments')],
  ['apps', undefined],
  ['', undefined],
  ['/', undefined],
  ['apps/', undefined],
  ['apps/v1/', undefined],
  ['apps/v1/deployments/scale', undefined],
  ['apps/v1/Deployments', undefined],
  ['Apps/v1', undefined],
  ['ap ps/v1', undefined],
  ['//v1', undefined],
])('parses the key "%s"', (key, want) => {
  expect(parseRuntimeKey(key)).toEqual(want);
});

test.each<[RuntimeConfig, string[]]>([
  [{}, []],
  [{ 'api/all': true }, []],
  [{ 'api/all': false, v1: true }, []],
  [{ 'api/all': false }, ['api/all=false disables all APIs; enable at least one']],
  [
    { apps: true, 'apps/v1': true },
    ['"apps" must be <group>/<version>, <group>/<version>/<resource> or api/all|ga|beta|alpha'],
  ],
])('errors of %j', (config, want) => {
  expect(runtimeConfigProblems(config)).toEqual(want);
});
