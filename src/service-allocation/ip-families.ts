import type { ServiceSpec } from '../catalog/types/core.v1.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../machinery/field-error.js';
import type { Mutable } from '../machinery/mutable.js';
import { hasClusterIp } from './service.types.js';
import { familyOf, type IpFamily } from './address-range.js';

const at = path('spec');
const policyAt = at.child('ipFamilyPolicy');

/** The IP families for which the cluster has a ServiceCIDR, the default one first. */
export type ClusterFamilies = readonly [IpFamily, ...IpFamily[]];

const isHeadless = ({ clusterIP }: ServiceSpec): boolean => clusterIP === 'None';
/** True for a headless Service without a selector: its endpoints are written by others and may be of any family. */
const hasForeignEndpoints = (spec: ServiceSpec): boolean =>
  isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
const other = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/**
 * True if a Service with PreferDualStack keeps its one or two cluster IPs, even if the families of the cluster have
 * changed: an update changes neither its type, its policy, its families nor its addresses.
 */
export function keepsFamilies(spec: ServiceSpec, before: ServiceSpec | undefined): boolean {
  return (
    before !== undefined &&
    spec.type === before.type &&
    hasClusterIp(spec) &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (before.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    same(spec, before, 'clusterIPs') &&
    same(spec, before, 'ipFamilies')
  );
}

/** The fields with one entry for each family. */
const listFields = ['clusterIPs', 'ipFamilies'] as const;
type ListField = (typeof listFields)[number];

const same = (spec: ServiceSpec, before: ServiceSpec, field: ListField): boolean =>
  deepEqual(spec[field] ?? [], before[field] ?? []);

/**
 * Sets an absent ipFamilyPolicy: to that of the old object, else SingleStack, or RequireDualStack for a headless Service
 * without a selector.
 */
export function choosePolicy(spec: Mutable<ServiceSpec>, before: ServiceSpec | undefined): void {
  if (!hasClusterIp(spec)) return;
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (hasForeignEndpoints(spec) ? 'RequireDualStack' : 'SingleStack');
}

/** Completes ipFamilies. Each field of the Service must be valid on its own. */
export function chooseFamilies(
  spec: Mutable<ServiceSpec>,
  before: ServiceSpec | undefined,
  cluster: ClusterFamilies,
): FieldError[] {
  if (!hasClusterIp(spec) || keepsFamilies(spec, before)) return [];
  const errors = [...(before ? trim(spec, before) : []), ...tooManyForOne(spec), ...inferFromAddresses(spec, cluster)];
  if (errors.length > 0) return errors;
  const isForeign = hasForeignEndpoints(spec);
  const unserved = isForeign ? [] : notOnThisCluster(spec, cluster);
  if (unserved.length > 0) return unserved;
  if ((spec.ipFamilies ?? []).length === 0) spec.ipFamilies = [cluster[0]];
  if (isForeign || cluster.length === 2) addSecond(spec);
  return [];
}

function addSecond(spec: Mutable<ServiceSpec>): void {
  const { ipFamilies: families = [] } = spec;
  const [first] = families;
  if (spec.ipFamilyPolicy !== 'SingleStack' && first !== undefined && families.length === 1) {
    spec.ipFamilies = [first, other(first)];
  }
}

const secondaryNames = { clusterIPs: 'cluster IP', ipFamilies: 'IP family' } as const;

/** SingleStack releases the second family. Only removing it from the lists is an error. */
function trim(spec: Mutable<ServiceSpec>, before: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    for (const field of listFields.filter((it) => same(spec, before, it))) {
      const texts = spec[field] ?? [];
      if (texts.length > 1) spec[field] = texts.slice(0, 1);
    }
    return [];
  }
  return listFields
    .filter((field) => {
      const { length } = spec[field] ?? [];
      return length > 0 && length < (before[field] ?? []).length;
    })
    .map((field) => {
      const message = `must be 'SingleStack' to release the secondary ${secondaryNames[field]}`;
      return fieldError.invalid(policyAt, spec.ipFamilyPolicy, message);
    });
}

const listNames = { clusterIPs: 'cluster IPs', ipFamilies: 'IP families' } as const;

function tooManyForOne(spec: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  return listFields
    .filter((field) => spec[field]?.length === 2)
    .map((field) => {
      const message = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${listNames[field]} are specified`;
      return fieldError.invalid(policyAt, 'SingleStack', message);
    });
}

function inferFromAddresses(spec: Mutable<ServiceSpec>, cluster: ClusterFamilies): FieldError[] {
  const ips = spec.clusterIPs ?? [];
  const families = [...(spec.ipFamilies ?? [])];
  const errors: FieldError[] = [];
  for (const [index, ip] of ips.entries()) {
    if (ip === 'None') break;
    if (index < families.length) continue;
    const family = familyOf(ip);
    if (cluster.includes(family)) families.push(family);
    else {
      const ipAt = at.child('clusterIPs').index(index);
      errors.push(fieldError.invalid(ipAt, ips, `${family} is not configured on this cluster`));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

function notOnThisCluster(spec: ServiceSpec, cluster: ClusterFamilies): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && cluster.length < 2) {
    const message = 'this cluster is not configured for dual-stack services';
    errors.push(fieldError.invalid(policyAt, 'RequireDualStack', message));
  }
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (cluster.includes(family as IpFamily)) continue;
    const familyAt = at.child('ipFamilies').index(index);
    errors.push(fieldError.invalid(familyAt, family, 'not configured on this cluster'));
  }
  return errors;
}
