import type { NamingProfile } from '../config/naming-profile.js';
import { asFields, asText } from '../machinery/fields.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type { KubeObject, ObjectMeta } from '../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../machinery/names.js';
import { defineResource } from '../registry/definition/resource-definition.js';
import { nameColumn } from '../registry/definition/table.js';
import { familyOf } from './address-range.js';

/** The Service that has an address: named in an IPAddress object whose name is the address. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
}

const strategy = { validateName: nameIsDnsSubdomain };
const table = { columns: [nameColumn], cells: ({ metadata }: KubeObject) => [metadata.name ?? ''] };

export const addressVersion = (naming: NamingProfile) => ({ group: naming.group('networking'), version: 'v1' });

/** Where the networking group is not served, addresses are taken all the same. */
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

export function addressClaim(address: string, owner: Owner, naming: NamingProfile, system: SystemFields): KubeObject {
  const { group, version } = addressVersion(naming);
  const { managedBy, family } = addressLabels(naming);
  return {
    kind: 'IPAddress',
    apiVersion: apiVersionOf(group, version),
    metadata: { name: address, ...system, labels: { [family]: familyOf(address), ...managedBy } },
    spec: { parentRef: { resource: 'services', ...owner } },
  };
}

function addressLabels(naming: NamingProfile) {
  const label = (name: string) => naming.label(name, 'ipaddress');
  return { family: label('ip-family'), managedBy: { [label('managed-by')]: naming.group('ipallocator') } };
}

/** Whether this server made it, and may remove it. */
export function isManaged({ metadata }: KubeObject, naming: NamingProfile): boolean {
  const { managedBy } = addressLabels(naming);
  return Object.entries(managedBy).every(([label, value]) => metadata.labels?.[label] === value);
}

/** Undefined when it is not a service that has it. */
export function ownerOf(claim: KubeObject): Owner | undefined {
  const { parentRef } = asFields(claim['spec']);
  const owner = asFields(parentRef);
  const isService =
    parentRef === undefined || (asText(owner['group']) === '' && asText(owner['resource']) === 'services');
  return isService ? { namespace: asText(owner['namespace']), name: asText(owner['name']) } : undefined;
}
