import type { HostAlias, Pod, PodResourceClaim, PodSpec } from '../../../catalog/types/core.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, required, requiredName } from '../../../machinery/field-rules.js';
import { validateDnsLabel, validateDnsSubdomain } from '../../../machinery/names.js';
import { validateIp } from '../../../machinery/ip-addresses.js';
import { validateContainers, validateEphemeralContainers } from './container.validation.js';
import type { PodReferences } from './pod-references.js';
import { validatePodResources } from './resources.validation.js';
import { validateScheduling } from './scheduling.validation.js';
import { validateOs, validatePodSecurity } from './security.validation.js';
import { validateVolumes } from './volume.validation.js';

/** Validates a Pod on create. */
export function validateNewPod({ spec = {} }: Pod): FieldError[] {
  const at = path('spec');
  const errors = validatePodSpec(spec, at);
  if (spec.ephemeralContainers?.length) {
    errors.push(fieldError.forbidden(at.child('ephemeralContainers'), 'cannot be set on create'));
  }
  return errors;
}

/** Validates the spec of a Pod or of a Pod template. The rules are in one file for each topic. */
export function validatePodSpec(spec: PodSpec, at: FieldPath): FieldError[] {
  const references = referencesOf(spec);
  return [
    ...validateVolumes(spec.volumes ?? [], at.child('volumes')),
    ...validateContainers(spec, at, references),
    ...validateEphemeralContainers(spec, at, references),
    ...oneOf(spec.restartPolicy ?? '', at.child('restartPolicy'), ['Always', 'OnFailure', 'Never']),
    ...validateDns(spec, at),
    ...validatePodSecurity(spec, at),
    ...validateScheduling(spec, at),
    ...validateNames(spec, at),
    ...(spec.resources ? validatePodResources(spec.resources, at.child('resources')) : []),
    ...validateResourceClaims(spec.resourceClaims ?? [], at.child('resourceClaims')),
    ...between(spec.activeDeadlineSeconds, at.child('activeDeadlineSeconds'), 1, 2147483647),
    ...oneOf(spec.preemptionPolicy, at.child('preemptionPolicy'), ['Never', 'PreemptLowerPriority']),
    ...validateOs(spec, at),
  ];
}

export function referencesOf({ volumes = [], resourceClaims = [], hostNetwork = false }: PodSpec): PodReferences {
  return {
    volumes: new Map(volumes.map((volume) => [volume.name ?? '', volume])),
    claims: new Set(resourceClaims.map(({ name = '' }) => name)),
    hostNetwork,
  };
}

const optionalName = (name: string | undefined, at: FieldPath, check: (text: string) => string[]): FieldError[] =>
  name ? checked(name, at, check) : [];

function validateNames(spec: PodSpec, at: FieldPath): FieldError[] {
  return [
    ...optionalName(spec.serviceAccountName, at.child('serviceAccountName'), validateDnsSubdomain),
    ...optionalName(spec.hostname, at.child('hostname'), validateDnsLabel),
    ...optionalName(spec.subdomain, at.child('subdomain'), validateDnsLabel),
    ...optionalName(spec.runtimeClassName, at.child('runtimeClassName'), validateDnsSubdomain),
    ...optionalName(spec.priorityClassName, at.child('priorityClassName'), validateDnsSubdomain),
    ...each(spec.hostAliases, at.child('hostAliases'), validateHostAlias),
  ];
}

function validateHostAlias({ ip = '', hostnames = [] }: HostAlias, at: FieldPath): FieldError[] {
  return [
    ...checked(ip, at.child('ip'), validateIp),
    ...hostnames.flatMap((name, index) => checked(name, at.child('hostnames').index(index), validateDnsSubdomain)),
  ];
}

const nameserversMax = 3;
const searchPathsMax = 32;
const searchCharactersMax = 2048;

function validateDns({ dnsPolicy = '', dnsConfig }: PodSpec, at: FieldPath): FieldError[] {
  const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
  const errors = oneOf(dnsPolicy, at.child('dnsPolicy'), policies);
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  const configAt = at.child('dnsConfig');
  const nameserversAt = configAt.child('nameservers');
  const searchesAt = configAt.child('searches');
  if (dnsPolicy === 'None' && !dnsConfig) {
    errors.push(fieldError.required(configAt, 'must provide `dnsConfig` when `dnsPolicy` is None'));
  } else if (dnsPolicy === 'None' && nameservers.length === 0) {
    const message = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    errors.push(fieldError.required(nameserversAt, message));
  }
  if (nameservers.length > nameserversMax) {
    const message = `must not have more than ${nameserversMax} nameservers`;
    errors.push(fieldError.invalid(nameserversAt, nameservers, message));
  }
  if (searches.length > searchPathsMax) {
    const message = `must not have more than ${searchPathsMax} search paths`;
    errors.push(fieldError.invalid(searchesAt, searches, message));
  }
  if (searches.join(' ').length > searchCharactersMax) {
    const message = `must not have more than ${searchCharactersMax} characters (including spaces) in the search list`;
    errors.push(fieldError.invalid(searchesAt, searches, message));
  }
  return [
    ...errors,
    ...nameservers.flatMap((server, index) => checked(server, nameserversAt.index(index), validateIp)),
    ...searches.flatMap((search, index) => validateSearchPath(search, searchesAt.index(index))),
    ...each(options, configAt.child('options'), ({ name }, optionAt) => required(name, optionAt, 'must not be empty')),
  ];
}

/** Accepts host names whose labels may begin with an underscore, and a dot at the end. A dot alone is the root. */
function validateSearchPath(search: string, at: FieldPath): FieldError[] {
  if (search === '.') return [];
  const name = search.endsWith('.') ? search.slice(0, -1) : search;
  const isValid =
    name.length <= 253 && name.split('.').every((label) => /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(label));
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
  return isValid ? [] : [fieldError.invalid(at, name, message)];
}

function validateResourceClaims(claims: readonly PodResourceClaim[], at: FieldPath): FieldError[] {
  return [
    ...each(claims, at, validateResourceClaim),
    ...duplicates(
      claims,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}

function validateResourceClaim(claim: PodResourceClaim, at: FieldPath): FieldError[] {
  const { name = '', resourceClaimName, resourceClaimTemplateName } = claim;
  const errors = requiredName(name, at.child('name'), validateDnsLabel);
  const hasName = resourceClaimName !== undefined;
  if (hasName === (resourceClaimTemplateName !== undefined)) {
    const shown = {
      Name: name,
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    };
    const message = hasName
      ? 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      : 'must specify one of: `resourceClaimName` or `resourceClaimTemplateName`';
    errors.push(fieldError.invalid(at, shown, message));
  }
  return [
    ...errors,
    ...optionalName(resourceClaimName, at.child('resourceClaimName'), validateDnsSubdomain),
    ...optionalName(resourceClaimTemplateName, at.child('resourceClaimTemplateName'), validateDnsSubdomain),
  ];
}
