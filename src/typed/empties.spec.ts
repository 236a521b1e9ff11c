import { Catalog } from '../catalog/catalog.js';
import { namingProfile } from '../config/naming-profile.js';
import type { JsonObject } from '../machinery/kube-object.js';
import { conform } from './conform.js';
import { dropEmpties } from './empties.js';

const catalog = new Catalog(namingProfile('kubernetes'));
const role = catalog.kind('rbac.authorization.k8s.io', 'v1', 'Role')!;
const node = catalog.kind('storage.k8s.io', 'v1', 'CSINode')!;

it.each<[JsonObject, typeof role, JsonObject, JsonObject]>([
  [{ rules: [] }, role, { rules: [] }, { rules: null }],
  [{}, role, { rules: null }, { rules: null }],
  [{ rules: [{ verbs: [] }] }, role, { rules: [{ verbs: [] }] }, { rules: [{ verbs: null }] }],
  [
    { rules: [{ verbs: ['get'], resources: [] }] },
    role,
    { rules: [{ verbs: ['get'] }] },
    { rules: [{ verbs: ['get'] }] },
  ],
  [{ spec: { drivers: [] } }, node, { spec: { drivers: [] } }, { spec: { drivers: null } }],
])('drops the empty lists of %j: row %#', (given, type, read, kept) => {
  const { object } = conform(given, type, { keepsEmpties: true });
  expect(object).toMatchObject(read);
  dropEmpties(object, type);
  expect(object).toEqual(conform(given, type).object);
  expect(object).toMatchObject(kept);
});

it('an empty list that defaulting tells from an absent one is kept until dropEmpties', () => {
  const rules = catalog.struct('autoscaling.v2.HPAScalingRules');
  expect(conform({ policies: [] }, rules, { keepsEmpties: true }).object).toEqual({ policies: [] });
  expect(conform({ policies: [] }, rules).object).toEqual({});
});
