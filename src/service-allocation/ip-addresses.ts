import type { IPAddress } from '../catalog/types/networking.v1.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../machinery/names.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import { nameColumn } from '../registry/definition/table.js';
import { familyOf } from './address-range.js';

/** The Service that has a cluster IP or node port; the parentRef of the IPAddress object of a cluster IP. */
export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

const strategy = { validateName: nameIsDnsSubdomain };
const table = { columns: [nameColumn], cells: ({ metadata }: KubeObject) => [metadata.name ?? ''] };

export const addressVersion = (naming: NamingProfile) => ({ group: naming.group('networking'), version: 'v1' });

/** The definition of IPAddress objects for a server that does not serve the networking group. */
export const unservedAddresses = (naming: NamingProfile) =>
  defineResource({
    ...addressVersion(naming),
    kind: 'IPAddress',
    plural: 'ipaddresses',
    namespaced: false,
    strategy,
    table,
  });

type SystemFields = Pick<ObjectMeta, 'uid' | 'creationTimestamp'>;

/** Returns the IPAddress object that allocates an address to a Service. */
export function newIpAddress(
  address: string,
  service: ServiceRef,
  naming: NamingProfile,
  system: SystemFields,
): IPAddress {
  const { group, version } = addressVersion(naming);
  const { managedBy, family } = addressLabels(naming);
  return {
    kind: 'IPAddress',
    apiVersion: apiVersionOf(group, version),
    metadata: { name: address, ...system, labels: { [family]: familyOf(address), ...managedBy } },
    spec: { parentRef: { resource: 'services', ...service } },
  };
}

function addressLabels(naming: NamingProfile) {
  const label = (name: string) => naming.label(name, 'ipaddress');
  return { family: label('ip-family'), managedBy: { [label('managed-by')]: naming.group('ipallocator') } };
}

/** True if a server created the IPAddress object, so that the repair may delete it. */
export function isManaged({ metadata }: IPAddress, naming: NamingProfile): boolean {
  const { managedBy } = addressLabels(naming);
  return Object.entries(managedBy).every(([label, value]) => metadata.labels?.[label] === value);
}

/** Returns the Service of an IPAddress object; undefined if it belongs to an object of another kind. */
export function serviceRefOf({ spec }: IPAddress): ServiceRef | undefined {
  const { group = '', resource = '', namespace = '', name = '' } = spec?.parentRef ?? { resource: 'services' };
  return group === '' && resource === 'services' ? { namespace, name } : undefined;
}
