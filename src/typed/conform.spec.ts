import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import { conform } from './conform.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const packages = {
  ConfigMap: 'core.v1',
  Secret: 'core.v1',
  Pod: 'core.v1',
  PodSpec: 'core.v1',
  Container: 'core.v1',
  Service: 'core.v1',
  Event: 'core.v1',
  Node: 'core.v1',
  Deployment: 'apps.v1',
  ControllerRevision: 'apps.v1',
  Lease: 'coordination.v1',
  Role: 'rbac.v1',
  HorizontalPodAutoscaler: 'autoscaling.v2',
  EndpointSlice: 'discovery.v1',
  PersistentVolumeClaim: 'core.v1',
  ObjectMeta: 'meta.v1',
  CertificateSigningRequest: 'certificates.v1',
  JSONSchemaProps: 'apiextensions.v1',
  ServicePort: 'core.v1',
  VolumeSource: 'core.v1',
  ResourceFieldSelector: 'core.v1',
} as const;
type Kind = keyof typeof packages;
const typeOf = (kind: Kind) => catalog.struct(`${packages[kind]}.${kind}`);
const made = (kind: Kind, value: unknown) => conform(value as JsonValue, typeOf(kind));

const inContainer = (container: JsonObject): JsonObject => ({ spec: { containers: [container] } });
const nested = (depth: number): JsonObject => (depth === 0 ? {} : { not: nested(depth - 1) });

describe('values of a wrong type', () => {
  const into = (given: string, field: string, wanted: string) =>
    `json: cannot unmarshal ${given} into Go struct field ${field} of type ${wanted}`;
  const badQuantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

  it.each<[Kind, unknown, string]>([
    ['ConfigMap', [], 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
    ['ConfigMap', 'x', 'json: cannot unmarshal string into Go value of type v1.ConfigMap'],
    ['ConfigMap', { data: { a: 1 } }, into('number', 'ConfigMap.data', 'string')],
    ['ConfigMap', { data: [] }, into('array', 'ConfigMap.data', 'map[string]string')],
    ['ConfigMap', { metadata: [] }, into('array', 'ConfigMap.metadata', 'v1.ObjectMeta')],
    ['ConfigMap', { metadata: { labels: 'x' } }, into('string', 'ObjectMeta.metadata.labels', 'map[string]string')],
    ['ConfigMap', { metadata: { labels: { a: 1 } } }, into('number', 'ObjectMeta.metadata.labels', 'string')],
    ['ConfigMap', { immutable: 'yes' }, into('string', 'ConfigMap.immutable', 'bool')],
    ['ConfigMap', { binaryData: { a: '***' } }, 'illegal base64 data at input byte 0'],
    ['ConfigMap', { binaryData: { a: 1 } }, into('number', 'ConfigMap.binaryData', '[]uint8')],
    ['ConfigMap', { binaryData: { a: [1, 300] } }, into('number 300', 'ConfigMap.binaryData', 'uint8')],
    ['Secret', { data: { a: '%%' } }, 'illegal base64 data at input byte 0'],
    ['Pod', { spec: { containers: {} } }, into('object', 'PodSpec.spec.containers', '[]v1.Container')],
    ['Pod', { spec: { containers: ['x'] } }, into('string', 'PodSpec.spec.containers', 'v1.Container')],
    ['Pod', { spec: { hostNetwork: 'true' } }, into('string', 'PodSpec.spec.hostNetwork', 'bool')],
    ['Pod', { spec: { priority: 3e9 } }, into('number 3000000000', 'PodSpec.spec.priority', 'int32')],
    [
      'Pod',
      { spec: { activeDeadlineSeconds: 1.5 } },
      into('number 1.5', 'PodSpec.spec.activeDeadlineSeconds', 'int64'),
    ],
    [
      'Pod',
      { spec: { activeDeadlineSeconds: 2 ** 63 } },
      into('number 9223372036854775808', 'PodSpec.spec.activeDeadlineSeconds', 'int64'),
    ],
    ['Pod', { spec: { priority: 2n ** 62n } }, into(`number ${2n ** 62n}`, 'PodSpec.spec.priority', 'int32')],
    ['Pod', inContainer({ image: 5 }), into('number', 'Container.spec.containers.image', 'string')],
    ['Pod', inContainer({ command: 'sh' }), into('string', 'Container.spec.containers.command', '[]string')],
    [
      'Pod',
      inContainer({ imagePullPolicy: 1 }),
      into('number', 'Container.spec.containers.imagePullPolicy', 'v1.PullPolicy'),
    ],
    [
      'Pod',
      inContainer({ ports: [{ containerPort: '80' }] }),
      into('string', 'ContainerPort.spec.containers.ports.containerPort', 'int32'),
    ],
    ['Pod', inContainer({ resources: { limits: { cpu: 'lots' } } }), badQuantity],
    ['Pod', inContainer({ resources: { limits: { cpu: true } } }), badQuantity],
    ['Pod', inContainer({ resources: { limits: { memory: '1Gib' } } }), badQuantity],
    [
      'Pod',
      inContainer({ livenessProbe: { httpGet: { port: 1.5 } } }),
      into('number 1.5', 'HTTPGetAction.spec.containers.livenessProbe.httpGet.port', 'int32'),
    ],
    [
      'Pod',
      { spec: { volumes: [{ hostPath: 'x' }] } },
      into('string', 'Volume.spec.volumes.hostPath', 'v1.HostPathVolumeSource'),
    ],
    [
      'Deployment',
      { spec: { template: inContainer({ zz: 1, ports: 'x' }) } },
      into('string', 'Container.spec.template.spec.containers.ports', '[]v1.ContainerPort'),
    ],
    [
      'ConfigMap',
      { metadata: { creationTimestamp: 'yesterday' } },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      'ConfigMap',
      { metadata: { creationTimestamp: 5 } },
      into('number', 'ObjectMeta.metadata.creationTimestamp', 'string'),
    ],
    [
      'Lease',
      { spec: { renewTime: '2020-01-01T00:00:00Z' } },
      'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ],
    ['JSONSchemaProps', { additionalProperties: 'x' }, 'boolean or JSON schema expected'],
    ['JSONSchemaProps', { items: { type: 5 } }, into('number', 'JSONSchemaProps.items', 'string')],
    ['JSONSchemaProps', { items: { items: { type: 5 } } }, into('number', 'JSONSchemaProps.items', 'string')],
    [
      'JSONSchemaProps',
      { properties: { a: { type: 5 } } },
      into('number', 'JSONSchemaProps.properties.type', 'string'),
    ],
    ['JSONSchemaProps', { dependencies: { a: [5] } }, into('number', 'JSONSchemaProps.dependencies', 'string')],
    ['JSONSchemaProps', { items: [5] }, into('number', 'JSONSchemaProps.items', 'v1.JSONSchemaProps')],
    ['JSONSchemaProps', nested(1001), 'exceeded max depth'],
    // The first type mismatch is reported; an invalid value comes before any of them.
    ['ConfigMap', { immutable: 5, data: 5 }, into('number', 'ConfigMap.immutable', 'bool')],
    [
      'ConfigMap',
      { immutable: 5, metadata: { creationTimestamp: '' } },
      'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"',
    ],
  ])('%s with %j is refused', (kind, value, message) => expect(() => made(kind, value)).toThrow(new Error(message)));
});

describe('canonical values', () => {
  it.each<[Kind, unknown, JsonObject]>([
    ['ConfigMap', null, { metadata: {} }],
    ['ConfigMap', {}, { metadata: {} }],
    ['ConfigMap', { kind: 'ConfigMap', apiVersion: 'v1' }, { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }],
    ['ConfigMap', { data: { a: null, b: '' } }, { metadata: {}, data: { a: '', b: '' } }],
    ['ConfigMap', { data: { 'a\ud800': '\udc00b' } }, { metadata: {}, data: { 'a\ufffd': '\ufffdb' } }],
    ['ConfigMap', { data: {}, immutable: false }, { metadata: {}, immutable: false }],
    ['ConfigMap', { data: null, immutable: null, metadata: null }, { metadata: {} }],
    ['ConfigMap', { binaryData: { a: 'YQ=\n=', b: [97] } }, { metadata: {}, binaryData: { a: 'YQ==', b: 'YQ==' } }],
    ['ObjectMeta', { name: '', finalizers: [], labels: {}, creationTimestamp: null, generation: 0 }, {}],
    ['ObjectMeta', { deletionTimestamp: '2020-01-01T01:00:00+01:00' }, { deletionTimestamp: '2020-01-01T00:00:00Z' }],
    ['ObjectMeta', { deletionGracePeriodSeconds: 0 }, { deletionGracePeriodSeconds: 0 }],
    ['ObjectMeta', { creationTimestamp: '0001-01-01T00:00:00Z' }, {}],
    ['Pod', { spec: null }, { metadata: {}, spec: { containers: null }, status: {} }],
    ['PodSpec', { containers: [null] }, { containers: [{ name: '', resources: {} }] }],
    ['PodSpec', { containers: [], volumes: [], securityContext: {} }, { containers: null, securityContext: {} }],
    ['PodSpec', { containers: null, priority: -0, hostNetwork: false }, { containers: null, priority: 0 }],
    ['Container', { name: 'c', args: ['a', null] }, { name: 'c', args: ['a', ''], resources: {} }],
    [
      'Container',
      { name: 'c', resources: { limits: { cpu: 0.5, memory: '1.5Gi', x: null }, requests: {} } },
      { name: 'c', resources: { limits: { cpu: '500m', memory: '1536Mi', x: '0' } } },
    ],
    ['ServicePort', { port: 80 }, { port: 80, targetPort: 0 }],
    ['ServicePort', { port: 80, targetPort: 'http' }, { port: 80, targetPort: 'http' }],
    [
      'VolumeSource',
      { emptyDir: {}, hostPath: { path: '/', type: '' } },
      { emptyDir: {}, hostPath: { path: '/', type: '' } },
    ],
    ['ResourceFieldSelector', { resource: 'x' }, { resource: 'x', divisor: '0' }],
    ['Role', { rules: [] }, { metadata: {}, rules: null }],
    ['ControllerRevision', {}, { metadata: {}, data: null, revision: 0 }],
    ['ControllerRevision', { data: { a: null }, revision: 1 }, { metadata: {}, data: { a: null }, revision: 1 }],
    ['EndpointSlice', { endpoints: [], ports: null }, { metadata: {}, addressType: '', endpoints: null, ports: null }],
    [
      'Event',
      { eventTime: '2020-01-01T00:00:00.100000Z' },
      {
        metadata: {},
        involvedObject: {},
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: '2020-01-01T00:00:00.100000Z',
        reportingComponent: '',
        reportingInstance: '',
      },
    ],
    ['CertificateSigningRequest', {}, { metadata: {}, spec: { request: null, signerName: '' }, status: {} }],
    ['JSONSchemaProps', { items: 5, default: null, example: false }, { example: false }],
    [
      'JSONSchemaProps',
      { additionalProperties: false, enum: [null, 1] },
      { additionalProperties: false, enum: [null, 1] },
    ],
    ['JSONSchemaProps', { items: [{ zz: 1 }], minimum: 0 }, { items: [{}], minimum: 0 }],
    ['JSONSchemaProps', { dependencies: { a: ['b', null], c: [] } }, { dependencies: { a: ['b', ''], c: null } }],
    ['JSONSchemaProps', { maximum: 2n ** 60n }, { maximum: 2 ** 60 }],
  ])('%s with %j', (kind, value, want) => expect(made(kind, value).object).toEqual(want));

  it('keeps integers beyond 2^53', () => {
    const generation = 2n ** 60n + 1n;
    expect(made('ObjectMeta', { generation }).object).toEqual({ generation });
  });

  it('ignores the key __proto__', () => {
    const submitted = JSON.parse('{"data":{"__proto__":"x"},"__proto__":{"a":1}}') as JsonObject;
    const { object, unknownFields } = made('ConfigMap', submitted);
    expect(Object.getPrototypeOf(object.data)).toBe(Object.prototype);
    expect(Object.entries(object.data!)).toEqual([['__proto__', 'x']]);
    expect(unknownFields).toEqual(['__proto__']);
  });

  it('shares nothing with the input', () => {
    const submitted = { metadata: { labels: { a: 'b' }, finalizers: ['x'] } };
    const before = structuredClone(submitted);
    const { object } = made('ConfigMap', submitted);
    const metadata = object.metadata as { labels: JsonObject; finalizers: string[] };
    metadata.labels.c = 'd';
    metadata.finalizers.push('y');
    expect(submitted).toEqual(before);
  });
});

describe('unknown fields', () => {
  it.each<[Kind, unknown, string[]]>([
    ['ConfigMap', { zz: 1, Data: {} }, ['zz', 'Data']],
    ['ConfigMap', { metadata: { zz: { yy: 1 } } }, ['metadata.zz']],
    [
      'Pod',
      inContainer({ imagee: 'x', ports: [{}, { x: null }] }),
      ['spec.containers[0].imagee', 'spec.containers[0].ports[1].x'],
    ],
    ['JSONSchemaProps', { properties: { a: { zz: 1 } }, items: { yy: 1 } }, ['properties.a.zz']],
    ['ConfigMap', { data: { zz: '1' } }, []],
    ['ConfigMap', { constructor: 1, hasOwnProperty: 2 }, ['constructor', 'hasOwnProperty']],
  ])('%s with %j', (kind, value, want) => {
    const { object, unknownFields } = made(kind, value);
    expect(unknownFields).toEqual(want);
    expect(made(kind, object).unknownFields).toEqual([]);
  });

  it('reports at most 100 unknown fields', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x${index}`, 1]));
    expect(made('ConfigMap', many).unknownFields).toHaveLength(100);
  });
});
