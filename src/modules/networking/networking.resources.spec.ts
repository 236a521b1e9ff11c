import { namingProfile } from '../../config/naming-profile.js';
import { hasWholeRows, linesOf, versionsOf } from '../../../test/harness/definitions.js';
import { networkingResources } from './networking.resources.js';

const { v1, v1beta1 } = networkingResources(namingProfile('kubernetes'));
const parent = ['group', 'resource', 'namespace', 'name'].map((field) => `spec.parentRef.${field}`).join();

it('networking resource definitions', () => {
  expect(linesOf(v1)).toEqual([
    'ingressclasses IngressClass - ingressclasses - - --u-',
    'ingresses Ingress ing ingress status - n-u-',
    `ipaddresses IPAddress ip ipaddresses - ${parent} --u-`,
    'networkpolicies NetworkPolicy netpol networkpolicies - - n-u-',
    'servicecidrs ServiceCIDR - servicecidrs status - --u-',
  ]);
  expect(versionsOf(v1beta1)).toEqual(['ipaddresses@v1beta1<v1', 'servicecidrs@v1beta1<v1']);
});

it('tables have a cell for each column; IPAddress has one more', () =>
  expect(v1.filter((definition) => !hasWholeRows(definition)).map(({ plural }) => plural)).toEqual(['ipaddresses']));

it('IPAddresses can be selected by fields of parentRef', () => {
  const address = { kind: 'IPAddress', apiVersion: '', metadata: {}, spec: { parentRef: { name: 's' } } };
  const { selectableFields } = v1.find(({ plural }) => plural === 'ipaddresses')!;
  expect(selectableFields['spec.parentRef.name']!(address)).toBe('s');
  expect(selectableFields['spec.parentRef.group']!(address)).toBe('');
});
