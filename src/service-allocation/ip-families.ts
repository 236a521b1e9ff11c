import { deepEqual } from '../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../machinery/field-error.js';
import { asFields, asText, asTexts, isSet, type Fields } from '../machinery/fields.js';
import { hasClusterIp } from './service.types.js';
import { familyOf, type IpFamily } from './address-range.js';

const at = path('spec');
const policyAt = String(at.child('ipFamilyPolicy'));

/** Families that the cluster has ranges for, the default one first. */
export type ClusterFamilies = readonly [IpFamily, ...IpFamily[]];

export const isHeadless = (spec: Fields): boolean => spec['clusterIP'] === 'None';
/** Speaks for endpoints that somebody else writes, of any family. */
const isForeign = (spec: Fields): boolean => isHeadless(spec) && Object.keys(asFields(spec['selector'])).length === 0;
const other = (family: unknown): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/**
 * A service that takes both families where the cluster has both stays as it is when the cluster changes: one or two
 * addresses, until its policy, its families or its addresses are changed.
 */
export function isSettled(spec: Fields, before: Fields | undefined): boolean {
  return (
    before !== undefined &&
    spec['type'] === before['type'] &&
    hasClusterIp(spec) &&
    spec['ipFamilyPolicy'] === 'PreferDualStack' &&
    (before['ipFamilyPolicy'] ?? 'PreferDualStack') === 'PreferDualStack' &&
    same(spec, before, 'clusterIPs') &&
    same(spec, before, 'ipFamilies')
  );
}

const same = (spec: Fields, before: Fields, field: string): boolean =>
  deepEqual(asTexts(spec[field]), asTexts(before[field]));

/** The policy of a service that names none: what it had, or one family, but both where endpoints are anybody's. */
export function choosePolicy(spec: Fields, before: Fields | undefined): void {
  if (!hasClusterIp(spec) || isSet(spec['ipFamilyPolicy'])) return;
  spec['ipFamilyPolicy'] = before?.['ipFamilyPolicy'] ?? (isForeign(spec) ? 'RequireDualStack' : 'SingleStack');
}

/** Completes the families of a service whose fields are valid each for itself. */
export function chooseFamilies(spec: Fields, before: Fields | undefined, cluster: ClusterFamilies): FieldError[] {
  if (!hasClusterIp(spec) || isSettled(spec, before)) return [];
  const errors = [...(before ? trim(spec, before) : []), ...tooManyForOne(spec), ...inferFromAddresses(spec, cluster)];
  if (errors.length > 0) return errors;
  if (isForeign(spec)) {
    if (asTexts(spec['ipFamilies']).length === 0) spec['ipFamilies'] = [cluster[0]];
    addSecond(spec);
    return [];
  }
  const unserved = notOnThisCluster(spec, cluster);
  if (unserved.length > 0) return unserved;
  if (asTexts(spec['ipFamilies']).length === 0) spec['ipFamilies'] = [cluster[0]];
  if (cluster.length === 2) addSecond(spec);
  return [];
}

function addSecond(spec: Fields): void {
  const families = asTexts(spec['ipFamilies']);
  if (spec['ipFamilyPolicy'] !== 'SingleStack' && families.length === 1) {
    spec['ipFamilies'] = [families[0], other(families[0])];
  }
}

/** Asking for one family gives the second one back. Leaving out the second one is not enough to say so. */
function trim(spec: Fields, before: Fields): FieldError[] {
  const fields = ['clusterIPs', 'ipFamilies'];
  if (spec['ipFamilyPolicy'] === 'SingleStack') {
    for (const field of fields.filter((it) => same(spec, before, it))) {
      const texts = asTexts(spec[field]);
      if (texts.length > 1) spec[field] = texts.slice(0, 1);
    }
    return [];
  }
  const names: Readonly<Record<string, string>> = { clusterIPs: 'cluster IP', ipFamilies: 'IP family' };
  return fields
    .filter((field) => {
      const { length } = asTexts(spec[field]);
      return length > 0 && length < asTexts(before[field]).length;
    })
    .map((field) => {
      const message = `must be 'SingleStack' to release the secondary ${names[field]}`;
      return fieldError.invalid(policyAt, spec['ipFamilyPolicy'], message);
    });
}

function tooManyForOne(spec: Fields): FieldError[] {
  if (spec['ipFamilyPolicy'] !== 'SingleStack') return [];
  const names: Readonly<Record<string, string>> = { clusterIPs: 'cluster IPs', ipFamilies: 'IP families' };
  return Object.keys(names)
    .filter((field) => asTexts(spec[field]).length === 2)
    .map((field) => {
      const message = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${names[field]} are specified`;
      return fieldError.invalid(policyAt, 'SingleStack', message);
    });
}

function inferFromAddresses(spec: Fields, cluster: ClusterFamilies): FieldError[] {
  const ips = asTexts(spec['clusterIPs']);
  const families = asTexts(spec['ipFamilies']);
  const errors: FieldError[] = [];
  for (const [index, ip] of ips.entries()) {
    if (ip === 'None') break;
    if (index < families.length) continue;
    const family = familyOf(ip);
    if (cluster.includes(family)) families.push(family);
    else {
      const where = String(at.child('clusterIPs').index(index));
      errors.push(fieldError.invalid(where, ips, `${family} is not configured on this cluster`));
    }
  }
  if (families.length > 0) spec['ipFamilies'] = families;
  return errors;
}

function notOnThisCluster(spec: Fields, cluster: ClusterFamilies): FieldError[] {
  const errors: FieldError[] = [];
  if (spec['ipFamilyPolicy'] === 'RequireDualStack' && cluster.length < 2) {
    const message = 'this cluster is not configured for dual-stack services';
    errors.push(fieldError.invalid(policyAt, 'RequireDualStack', message));
  }
  for (const [index, family] of asTexts(spec['ipFamilies']).entries()) {
    if (cluster.includes(family as IpFamily)) continue;
    const where = String(at.child('ipFamilies').index(index));
    errors.push(fieldError.invalid(where, asText(family), 'not configured on this cluster'));
  }
  return errors;
}
