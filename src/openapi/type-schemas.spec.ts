import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import { structSchema, type Dialect, type Schema } from './type-schemas.js';

const catalog = new Catalog(namingProfile('kubernetes'));

function schemaOf(struct: string, dialect: Dialect): Schema {
  return structSchema(catalog.struct(struct), {
    dialect,
    refer: (type) => ({ $ref: typeof type === 'string' ? type : type.name }),
    describe: (owner, field) => (owner === 'core.v1.HostAlias' ? `of ${field}` : undefined),
  });
}

const ref = (name: string) => ({ $ref: name });
const allOf = (name: string) => ({ allOf: [ref(name)] });
const string = { type: 'string' };

/** [case, struct, field, OpenAPI 3.0, Swagger 2.0 if different] */
const fields: [string, string, string, Schema, Schema?][] = [
  ['text', 'core.v1.Pod', 'kind', string],
  ['text that is always written', 'core.v1.EnvVar', 'name', { ...string, default: '' }, string],
  ['text that may be absent', 'core.v1.EnvVar', 'value', string],
  ['a pointer to text', 'core.v1.PodSpec', 'runtimeClassName', string],
  ['bytes', 'admissionregistration.v1.WebhookClientConfig', 'caBundle', { ...string, format: 'byte' }],
  [
    'a number that is always written',
    'core.v1.ContainerPort',
    'containerPort',
    { type: 'integer', format: 'int32', default: 0 },
    { type: 'integer', format: 'int32' },
  ],
  ['a large number', 'meta.v1.ObjectMeta', 'generation', { type: 'integer', format: 'int64' }],
  ['a flag', 'core.v1.PodSpec', 'hostNetwork', { type: 'boolean' }],
  [
    'a closed set, with a default',
    'core.v1.ContainerPort',
    'protocol',
    { ...string, enum: ['SCTP', 'TCP', 'UDP'], default: 'TCP' },
    { ...string, enum: ['SCTP', 'TCP', 'UDP'] },
  ],
  ['a map', 'core.v1.ConfigMap', 'data', { type: 'object', additionalProperties: string }],
  ['a map of bytes', 'core.v1.Secret', 'data', { type: 'object', additionalProperties: { ...string, format: 'byte' } }],
  ['a struct', 'core.v1.Pod', 'spec', { default: {}, ...allOf('core.v1.PodSpec') }, ref('core.v1.PodSpec')],
  ['a pointer to a struct', 'core.v1.PodSpec', 'affinity', allOf('core.v1.Affinity'), ref('core.v1.Affinity')],
  ['a moment', 'meta.v1.ObjectMeta', 'creationTimestamp', allOf('time'), ref('time')],
  [
    'a field of an inlined struct',
    'core.v1.Volume',
    'nfs',
    allOf('core.v1.NFSVolumeSource'),
    ref('core.v1.NFSVolumeSource'),
  ],
  [
    'a reference with nothing around it',
    'networking.v1.IngressRule',
    'http',
    ref('networking.v1.HTTPIngressRuleValue'),
  ],
  [
    'a description',
    'core.v1.HostAlias',
    'ip',
    { description: 'of ip', ...string, default: '' },
    { description: 'of ip', ...string },
  ],
  [
    'a list with keys',
    'core.v1.Container',
    'ports',
    {
      type: 'array',
      items: ref('core.v1.ContainerPort'),
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    },
  ],
  [
    'a set',
    'meta.v1.ObjectMeta',
    'finalizers',
    { type: 'array', items: string, 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
  ],
  [
    'two strategies',
    'core.v1.PodSpec',
    'volumes',
    {
      type: 'array',
      items: ref('core.v1.Volume'),
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
    },
  ],
  [
    'a map that is said to be merged',
    'core.v1.PersistentVolumeClaimStatus',
    'allocatedResourceStatuses',
    { type: 'object', additionalProperties: expect.anything(), 'x-kubernetes-map-type': 'granular' },
  ],
];

describe.each(['v3', 'v2'] as const)('%s', (dialect) => {
  it.each(fields)('schema of %s: %s %s', (_, struct, field, v3, v2 = v3) => {
    const properties = schemaOf(struct, dialect)['properties'] as Record<string, Schema>;
    expect(properties[field]).toEqual(dialect === 'v3' ? v3 : v2);
  });

  it.each<[string, Schema]>([
    ['core.v1.Container', { required: ['name'] }],
    ['core.v1.PodCondition', { required: ['type', 'status'] }],
    ['core.v1.HostAlias', { description: 'of ', required: ['ip'] }],
    ['core.v1.ConfigMapKeySelector', { required: ['key'], 'x-kubernetes-map-type': 'atomic' }],
    [
      'flowcontrol.v1.LimitResponse',
      {
        required: ['type'],
        'x-kubernetes-unions': [{ discriminator: 'type', 'fields-to-discriminateBy': { queuing: 'Queuing' } }],
      },
    ],
    ['apiextensions.v1.CustomResourceSubresourceStatus', {}],
  ])('schema of %s besides its properties', (struct, want) => {
    const { properties, ...rest } = schemaOf(struct, dialect);
    expect(rest).toEqual({ type: 'object', ...want });
    expect(Object.keys(properties ?? {})).toEqual(Object.keys(properties ?? {}).sort());
  });
});
