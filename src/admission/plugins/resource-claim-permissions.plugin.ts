import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { parseServiceAccountUserName, type UserInfo } from '../../machinery/user-info.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';
import type { WantedRight } from '../plugin-dependencies.js';

export interface ResourceClaimRightsParts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
  /** The gate DRAResourceClaimGranularStatusAuthorization. */
  readonly checksStatus: boolean;
  /** The 403 for a right that the user lacks. */
  readonly refusalOf: (right: WantedRight) => Promise<ApiError | undefined>;
}

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
export function resourceClaimRights(parts: ResourceClaimRightsParts): AdmissionPlugin {
  const group = parts.naming.group('resource');
  return {
    name: 'ResourceClaimRights',
    async validate(attributes) {
      const { resource, subresource, operation, object } = attributes;
      if (resource.group !== group || !object) return;
      const errors: FieldError[] = [];
      const isClaim = resource.resource === 'resourceclaims';
      if (operation === 'CREATE' && (isClaim || resource.resource === 'resourceclaimtemplates')) {
        const spec = isClaim ? object['spec'] : asFields(object['spec'])['spec'];
        errors.push(...(await adminAccessErrors(parts, attributes, adminAccessOfSpec(asFields(spec)))));
      } else if (operation === 'UPDATE' && isClaim && subresource === 'status') {
        errors.push(...(await statusErrors(parts, attributes)));
      }
      if (errors.length > 0) throw ApiError.invalid({ group, kind: attributes.kind }, attributes.name, errors);
    },
  };
}

const statusOf = (claim: AdmissionAttributes['object']): Fields => asFields(claim?.['status']);
const resultsOf = (status: Fields): Fields[] => asItems(asFields(asFields(status['allocation'])['devices'])['results']);

/** The path of the first request with adminAccess; only requests for exactly one class can ask for it. */
function adminAccessOfSpec(spec: Fields): string | undefined {
  const requests = asItems(asFields(spec['devices'])['requests']);
  const index = requests.findIndex((request) => asFields(request['exactly'])['adminAccess'] === true);
  return index < 0 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function adminAccessOfStatus(status: Fields): string | undefined {
  const index = resultsOf(status).findIndex(({ adminAccess }) => adminAccess === true);
  return index < 0 ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
}

async function adminAccessErrors(
  { objects, naming }: ResourceClaimRightsParts,
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

async function statusErrors(parts: ResourceClaimRightsParts, attributes: AdmissionAttributes): Promise<FieldError[]> {
  const status = statusOf(attributes.object);
  const old = statusOf(attributes.old);
  const errors =
    adminAccessOfStatus(old) === undefined
      ? await adminAccessErrors(parts, attributes, adminAccessOfStatus(status))
      : [];
  if (!parts.checksStatus) return errors;
  errors.push(...(await bindingErrors(parts, attributes, status, old)));
  if (isSet(status['allocation'])) errors.push(...(await driverErrors(parts, attributes, status, old)));
  return errors;
}

/** The verb of the request; parts of this server, which have none, change objects as by an update. */
const verbOf = ({ request }: AdmissionAttributes): string => request.verb ?? 'update';

async function bindingErrors(
  { refusalOf }: ResourceClaimRightsParts,
  attributes: AdmissionAttributes,
  status: Fields,
  old: Fields,
): Promise<FieldError[]> {
  if (['allocation', 'reservedFor'].every((field) => semanticEqual(status[field], old[field]))) return [];
  const { request, resource } = attributes;
  const verb = verbOf(attributes);
  const refusal = await refusalOf({ user: request.user, verb, ...resource, subresource: 'binding', name: '' });
  if (!refusal) return [];
  const message = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal.message}`;
  return [fieldError.forbidden('status.allocation', message)];
}

async function driverErrors(
  { refusalOf, naming }: ResourceClaimRightsParts,
  attributes: AdmissionAttributes,
  status: Fields,
  old: Fields,
): Promise<FieldError[]> {
  const drivers = changedDrivers(status, old);
  if (drivers.length === 0) return [];
  const { request, resource, namespace } = attributes;
  const node = allocatedNode(asFields(status['allocation']));
  const isOnNode = node !== undefined && nodeOfAccount(request.user, naming) === node;
  const verbs = [...(isOnNode ? ['associated-node:'] : []), 'arbitrary-node:'].map(
    (prefix) => prefix + verbOf(attributes),
  );
  const errors: FieldError[] = [];
  for (const name of drivers) {
    const right = { user: request.user, ...resource, subresource: 'driver', namespace, name };
    const refusals: ApiError[] = [];
    for (const verb of verbs) {
      const refusal = await refusalOf({ ...right, verb });
      if (refusal) refusals.push(refusal);
      else break;
    }
    if (refusals.length < verbs.length) continue;
    const message = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusals[0]!.message}`;
    errors.push(fieldError.forbidden('status.devices', message));
  }
  return errors;
}

/** The drivers of entries that were added, changed or removed, each once and in order. */
function changedDrivers(status: Fields, old: Fields): string[] {
  const keyOf = ({ driver, pool, device, shareID }: Fields) => [driver, pool, device, shareID].map(asText).join('\n');
  const before = new Map(asItems(old['devices']).map((entry) => [keyOf(entry), entry]));
  const drivers = new Set<string>();
  for (const entry of asItems(status['devices'])) {
    const key = keyOf(entry);
    const known = before.get(key);
    before.delete(key);
    if (!known || !semanticEqual(known, entry)) drivers.add(asText(entry['driver']));
  }
  for (const entry of before.values()) drivers.add(asText(entry['driver']));
  return [...drivers].sort();
}

/** The node of an allocation whose selector is the one field `metadata.name` with one value. */
function allocatedNode(allocation: Fields): string | undefined {
  const terms = asItems(asFields(allocation['nodeSelector'])['nodeSelectorTerms']);
  const [term] = terms;
  if (terms.length !== 1 || asItems(term!['matchExpressions']).length > 0) return undefined;
  const fields = asItems(term!['matchFields']);
  const [field] = fields;
  if (fields.length !== 1 || field!['key'] !== 'metadata.name' || field!['operator'] !== 'In') return undefined;
  const values = asTexts(field!['values']);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** The node of the Pod that a service account's token is bound to. */
function nodeOfAccount({ name, extra }: UserInfo, naming: NamingProfile): string | undefined {
  if (!parseServiceAccountUserName(name)) return undefined;
  const key = naming.label('node-name', 'authentication');
  const nodes = Object.hasOwn(extra, key) ? extra[key]! : [];
  return nodes.length === 1 && nameIsDnsSubdomain(nodes[0]!).length === 0 ? nodes[0] : undefined;
}
