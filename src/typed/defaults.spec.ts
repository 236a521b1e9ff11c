import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject } from '../machinery/kube-object.js';
import { applyDefaults } from './defaults.js';

const catalog = new Catalog(namingProfile('kubernetes'));

describe('applyDefaults', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['core.v1.ServicePort', { port: 1 }, { port: 1, protocol: 'TCP' }],
    ['core.v1.ServicePort', { protocol: '' }, { protocol: 'TCP' }],
    ['core.v1.ServicePort', { protocol: 'UDP' }, { protocol: 'UDP' }],
    ['core.v1.ServicePort', { protocol: null }, { protocol: 'TCP' }],
    [
      'core.v1.AzureDiskVolumeSource',
      {},
      { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
    ],
    [
      'core.v1.AzureDiskVolumeSource',
      { cachingMode: '', fsType: '', readOnly: true, kind: 'Managed' },
      { cachingMode: '', fsType: '', readOnly: true, kind: 'Managed' },
    ],
    ['core.v1.GRPCAction', { port: 1 }, { port: 1, service: '' }],
    ['core.v1.ConfigMap', { data: {} }, { data: {} }],
    ['core.v1.LocalObjectReference', {}, {}],
    [
      'apps.v1.Deployment',
      {
        spec: {
          template: { spec: { containers: [{ ports: [{}, { protocol: 'SCTP' }] }, {}], volumes: [{ rbd: {} }] } },
        },
      },
      {
        spec: {
          template: {
            spec: {
              containers: [{ ports: [{ protocol: 'TCP' }, { protocol: 'SCTP' }] }, {}],
              volumes: [{ rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } }],
            },
          },
        },
      },
    ],
    ['core.v1.Pod', { spec: { containers: 'x' } }, { spec: { containers: 'x' } }],
  ])('%s with %j', (name, object, want) => {
    const type = catalog.struct(name);
    const given = structuredClone(object);
    applyDefaults(given, type);
    expect(given).toEqual(want);
    applyDefaults(given, type);
    expect(given).toEqual(want);
  });

  it('recursive types terminate', () => {
    const schema = { properties: { a: { items: {} } } };
    applyDefaults(schema, catalog.struct('apiextensions.v1.JSONSchemaProps'));
    expect(schema).toEqual({ properties: { a: { items: {} } } });
  });
});
