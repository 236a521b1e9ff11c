import type {
  AllocatedDeviceStatus,
  AllocationResult,
  ResourceClaim,
  ResourceClaimSpec,
  ResourceClaimStatus,
  ResourceClaimTemplate,
} from '../../catalog/types/resource.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { parseServiceAccountUserName, type UserInfo } from '../../machinery/user-info.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { isAbout } from '../matching.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';

const namespaces = { group: '', resource: 'namespaces' };

/**
 * The permissions that writes of ResourceClaims need beside those of the request, as kube-apiserver's strategies ask
 * for them; like those, it cannot be switched off.
 *
 *   spec or allocation with adminAccess     the namespace has the label resource.kubernetes.io/admin-access: "true"
 *   status.allocation, status.reservedFor   update or patch of resourceclaims/binding, in all namespaces
 *   status.devices of a driver              arbitrary-node:update or :patch of resourceclaims/driver, by the driver's
 *                                           name; for a service account on the allocated node also associated-node:…
 */
export const resourceClaimPermissions = defineAdmissionPlugin({
  name: 'ResourceClaimPermissions',
  runs: 'always',
  make(dependencies) {
    const group = dependencies.naming.group('resource');
    return {
      resources: ['resourceclaims', 'resourceclaimtemplates'].map((resource) => ({ group, resource })),
      async validate(attributes) {
        const { resource, operation, object } = attributes;
        if (resource.group !== group || !object) return;
        const errors: FieldError[] = [];
        if (operation === 'CREATE') {
          const field = adminAccessOfSpec(claimSpecOf(attributes));
          errors.push(...(await adminAccessErrors(dependencies, attributes, field)));
        } else if (isAbout(attributes, group, 'resourceclaims', ['UPDATE'], 'status')) {
          errors.push(...(await statusErrors(dependencies, attributes)));
        }
        if (errors.length > 0) throw ApiError.invalid({ group, kind: attributes.kind }, attributes.name, errors);
      },
    };
  },
});

function claimSpecOf({ resource, object }: AdmissionAttributes): ResourceClaimSpec {
  if (resource.resource === 'resourceclaims') {
    const claim: ResourceClaim | undefined = object;
    return claim?.spec ?? {};
  }
  if (resource.resource !== 'resourceclaimtemplates') return {};
  const template: ResourceClaimTemplate | undefined = object;
  return template?.spec?.spec ?? {};
}

const statusOf = (claim: ResourceClaim | undefined): ResourceClaimStatus => claim?.status ?? {};

/** Returns the path of the first request with adminAccess; only requests with `exactly` can have it. */
function adminAccessOfSpec({ devices }: ResourceClaimSpec): string | undefined {
  const index = (devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return index < 0 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function adminAccessOfStatus({ allocation }: ResourceClaimStatus): string | undefined {
  const index = (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
  return index < 0 ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
}

async function adminAccessErrors(
  { objects, naming }: PluginDependencies,
  { namespace, request }: AdmissionAttributes,
  field: string | undefined,
): Promise<FieldError[]> {
  if (field === undefined) return [];
  const label = naming.label('admin-access', 'resource');
  const found = await find(objects, namespaces, '', namespace, request.signal);
  if (found?.metadata.labels?.[label] === 'true') return [];
  const message = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
  return [fieldError.forbidden(field, message)];
}

async function statusErrors(dependencies: PluginDependencies, attributes: AdmissionAttributes): Promise<FieldError[]> {
  const status = statusOf(attributes.object);
  const old = statusOf(attributes.old);
  const errors =
    adminAccessOfStatus(old) === undefined
      ? await adminAccessErrors(dependencies, attributes, adminAccessOfStatus(status))
      : [];
  if (dependencies.featureGates['DRAResourceClaimGranularStatusAuthorization'] !== true) return errors;
  errors.push(...(await bindingErrors(dependencies, attributes, status, old)));
  const { allocation, devices = [] } = status;
  if (!allocation) return errors;
  const changes = { allocation, devices, before: old.devices ?? [] };
  return [...errors, ...(await driverErrors(dependencies, attributes, changes))];
}

/** Returns the verb of the request. Writes of this server itself have none and count as updates. */
const verbOf = ({ request }: AdmissionAttributes): string => request.verb ?? 'update';

async function bindingErrors(
  { refusalOf }: PluginDependencies,
  attributes: AdmissionAttributes,
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
): Promise<FieldError[]> {
  if ((['allocation', 'reservedFor'] as const).every((field) => semanticEqual(status[field], old[field]))) return [];
  const { request, resource } = attributes;
  const verb = verbOf(attributes);
  const refusal = await refusalOf({ user: request.user, verb, ...resource, subresource: 'binding', name: '' });
  if (!refusal) return [];
  const message = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal.message}`;
  return [fieldError.forbidden('status.allocation', message)];
}

interface AllocatedDevices {
  readonly allocation: AllocationResult;
  readonly devices: readonly AllocatedDeviceStatus[];
  readonly before: readonly AllocatedDeviceStatus[];
}

async function driverErrors(
  { refusalOf, naming }: PluginDependencies,
  attributes: AdmissionAttributes,
  { allocation, devices, before }: AllocatedDevices,
): Promise<FieldError[]> {
  const drivers = changedDrivers(devices, before);
  if (drivers.length === 0) return [];
  const { request, resource, namespace } = attributes;
  const node = allocatedNode(allocation);
  const isOnNode = node !== undefined && nodeOfAccount(request.user, naming) === node;
  const verbs = [...(isOnNode ? ['associated-node:'] : []), 'arbitrary-node:'].map(
    (prefix) => prefix + verbOf(attributes),
  );
  const errors: FieldError[] = [];
  for (const name of drivers) {
    const permission = { user: request.user, ...resource, subresource: 'driver', namespace, name };
    const refusals: ApiError[] = [];
    for (const verb of verbs) {
      const refusal = await refusalOf({ ...permission, verb });
      if (refusal) refusals.push(refusal);
      else break;
    }
    if (refusals.length < verbs.length) continue;
    const message = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusals[0]!.message}`;
    errors.push(fieldError.forbidden('status.devices', message));
  }
  return errors;
}

/** Returns the drivers of entries that were added, changed or removed, without duplicates, sorted. */
function changedDrivers(devices: readonly AllocatedDeviceStatus[], before: readonly AllocatedDeviceStatus[]): string[] {
  const keyOf = ({ driver = '', pool = '', device = '', shareID = '' }: AllocatedDeviceStatus) =>
    [driver, pool, device, shareID].join('\n');
  const left = new Map(before.map((entry) => [keyOf(entry), entry]));
  const drivers = new Set<string>();
  for (const entry of devices) {
    const key = keyOf(entry);
    const known = left.get(key);
    left.delete(key);
    if (!known || !semanticEqual(known, entry)) drivers.add(entry.driver ?? '');
  }
  for (const entry of left.values()) drivers.add(entry.driver ?? '');
  return [...drivers].sort();
}

/** Returns the node of an allocation whose node selector is `metadata.name In [node]` and nothing else. */
function allocatedNode({ nodeSelector }: AllocationResult): string | undefined {
  const [term, ...otherTerms] = nodeSelector?.nodeSelectorTerms ?? [];
  if (!term || otherTerms.length > 0 || (term.matchExpressions ?? []).length > 0) return undefined;
  const [field, ...otherFields] = term.matchFields ?? [];
  if (!field || otherFields.length > 0 || field.key !== 'metadata.name' || field.operator !== 'In') return undefined;
  const { values = [] } = field;
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** Returns the node of the Pod that a service account token is bound to. */
function nodeOfAccount({ name, extra }: UserInfo, naming: NamingProfile): string | undefined {
  if (!parseServiceAccountUserName(name)) return undefined;
  const key = naming.label('node-name', 'authentication');
  const nodes = Object.hasOwn(extra, key) ? extra[key]! : [];
  return nodes.length === 1 && nameIsDnsSubdomain(nodes[0]!).length === 0 ? nodes[0] : undefined;
}
