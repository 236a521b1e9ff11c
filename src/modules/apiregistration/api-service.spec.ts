import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext } from '../../../test/harness/strategies.js';
import { apiServiceStrategy } from './api-service.strategy.js';
import { apiServiceTable } from './api-service.table.js';

const service = { namespace: 'n', name: 's' };
const spec = { group: 'g.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };
const apiService = (rest: object, name = 'v1.g.example.com'): KubeObject => ({
  kind: 'APIService',
  apiVersion: 'apiregistration.k8s.io/v1',
  metadata: { name },
  spec: { ...spec, ...rest },
});

it('create sets the condition Available of a local APIService', () => {
  expect(prepared(apiServiceStrategy, apiService({}))['status']).toEqual({
    conditions: [expect.objectContaining({ type: 'Available', status: 'True', lastTransitionTime: testContext.now })],
  });
  expect(prepared(apiServiceStrategy, apiService({ service }))).toEqual({
    ...apiService({ service: { ...service, port: 443 } }),
    status: {},
  });
});

const ownName = 'v1.g.example.com';
it.each<[string, object, string[], string]>([
  ['a service', { service }, [], ownName],
  ['the core group', { group: '' }, [], 'v1.'],
  ['the core group in version v2', { group: '', version: 'v2' }, ['spec.group: Required value'], 'v2.'],
  [
    'a name that is not version.group',
    {},
    ['must be `spec.version+"."+spec.group`: "v1.g.example.com"'],
    'v2.g.example.com',
  ],
  ['no priorities', { groupPriorityMinimum: 0, versionPriority: 0 }, ['less than 20000', 'less than 1000'], ownName],
  ['an empty service', { service: {} }, ['spec.service.namespace: Required', 'spec.service.name: Required'], ownName],
  ['an invalid port', { service: { ...service, port: 70_000 } }, ['port is not valid'], ownName],
  [
    'caBundle and insecureSkipTLSVerify',
    { service, caBundle: 'eA==', insecureSkipTLSVerify: true },
    ['may not be true if caBundle'],
    ownName,
  ],
  [
    'TLS settings but no service',
    { caBundle: 'eA==', insecureSkipTLSVerify: true },
    ['"1 bytes": local', 'local APIServices'],
    ownName,
  ],
])('an APIService with %s', (_what, rest, want, name) =>
  expect(refusals(apiServiceStrategy, apiService(rest, name))).toEqual(
    want.map((text) => expect.stringContaining(text) as string),
  ),
);

const condition = (rest: object) => ({ status: { conditions: [{ type: 'Available', ...rest }] } });
it.each<[object, object, string[]]>([
  [{}, condition({ status: 'True', reason: 'Local' }), ['Local', 'True']],
  [{ service }, condition({ status: 'False', reason: 'MissingEndpoints' }), ['n/s', 'False (MissingEndpoints)']],
  [{ service }, {}, ['n/s', 'Unknown']],
])('the table row of spec %j, status %j', (rest, status, want) =>
  expect(apiServiceTable.cells({ ...apiService(rest), ...status }, { nowMs: 0 })).toEqual([
    ...['v1.g.example.com', ...want, '<unknown>'],
  ]),
);
