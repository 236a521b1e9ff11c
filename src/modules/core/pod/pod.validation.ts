import { fieldError, path, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, checked, duplicates, each, oneOf, requiredName } from '../../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { validateDnsLabel, validateDnsSubdomain } from '../../../machinery/names.js';
import { validateIp } from '../../../machinery/ip-addresses.js';
import { validateContainers, validateEphemeralContainers, type PodNames } from './container.validation.js';
import { validatePodResources } from './resources.validation.js';
import { validateScheduling } from './scheduling.validation.js';
import { validateOs, validatePodSecurity } from './security.validation.js';
import { validateVolumes } from './volume.validation.js';

/** What is wrong with a new pod. The rules stand in one file a topic; this one puts them together. */
export function validateNewPod(pod: KubeObject): FieldError[] {
  const spec = asFields(pod['spec']);
  const at = path('spec');
  const errors = validatePodSpec(spec, at);
  if (asItems(spec['ephemeralContainers']).length > 0) {
    errors.push(fieldError.forbidden(String(at.child('ephemeralContainers')), 'cannot be set on create'));
  }
  return errors;
}

/** Also for the templates of workloads. */
export function validatePodSpec(spec: Fields, at: FieldPath): FieldError[] {
  const names = podNames(spec);
  return [
    ...validateVolumes(spec['volumes'], at.child('volumes')),
    ...validateContainers(spec, at, names),
    ...validateEphemeralContainers(spec, at, names),
    ...oneOf(asText(spec['restartPolicy']), at.child('restartPolicy'), ['Always', 'OnFailure', 'Never']),
    ...validateDns(spec, at),
    ...validatePodSecurity(spec, at),
    ...validateScheduling(spec, at),
    ...validateIdentity(spec, at),
    ...(isSet(spec['resources']) ? validatePodResources(asFields(spec['resources']), at.child('resources')) : []),
    ...validateResourceClaims(spec['resourceClaims'], at.child('resourceClaims')),
    ...between(spec['activeDeadlineSeconds'], at.child('activeDeadlineSeconds'), 1, 2147483647),
    ...oneOf(spec['preemptionPolicy'], at.child('preemptionPolicy'), ['Never', 'PreemptLowerPriority']),
    ...validateOs(spec, at),
  ];
}

export function podNames(spec: Fields): PodNames {
  return {
    volumes: new Map(asItems(spec['volumes']).map((volume) => [asText(volume['name']), volume])),
    claims: new Set(asItems(spec['resourceClaims']).map((claim) => asText(claim['name']))),
    hostNetwork: spec['hostNetwork'] === true,
  };
}

const named = (spec: Fields, at: FieldPath, field: string, check: (text: string) => string[]): FieldError[] =>
  asText(spec[field]) === '' ? [] : checked(asText(spec[field]), at.child(field), check);

function validateIdentity(spec: Fields, at: FieldPath): FieldError[] {
  return [
    ...named(spec, at, 'serviceAccountName', validateDnsSubdomain),
    ...named(spec, at, 'hostname', validateDnsLabel),
    ...named(spec, at, 'subdomain', validateDnsLabel),
    ...named(spec, at, 'runtimeClassName', validateDnsSubdomain),
    ...named(spec, at, 'priorityClassName', validateDnsSubdomain),
    ...each(spec['hostAliases'], at.child('hostAliases'), (alias, aliasAt) => [
      ...checked(asText(alias['ip']), aliasAt.child('ip'), validateIp),
      ...asTexts(alias['hostnames']).flatMap((name, index) =>
        checked(name, aliasAt.child('hostnames').index(index), validateDnsSubdomain),
      ),
    ]),
  ];
}

const nameserversMax = 3;
const searchPathsMax = 32;
const searchCharactersMax = 2048;

function validateDns(spec: Fields, at: FieldPath): FieldError[] {
  const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
  const errors = oneOf(asText(spec['dnsPolicy']), at.child('dnsPolicy'), policies);
  const configAt = at.child('dnsConfig');
  const config = asFields(spec['dnsConfig']);
  const nameservers = asTexts(config['nameservers']);
  const searches = asTexts(config['searches']);
  if (spec['dnsPolicy'] === 'None') {
    if (!isSet(spec['dnsConfig'])) {
      errors.push(fieldError.required(String(configAt), 'must provide `dnsConfig` when `dnsPolicy` is None'));
    } else if (nameservers.length === 0) {
      const message = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      errors.push(fieldError.required(String(configAt.child('nameservers')), message));
    }
  }
  const refuse = (field: string, message: string) =>
    errors.push(fieldError.invalid(String(configAt.child(field)), config[field], message));
  if (nameservers.length > nameserversMax)
    refuse('nameservers', `must not have more than ${nameserversMax} nameservers`);
  if (searches.length > searchPathsMax) refuse('searches', `must not have more than ${searchPathsMax} search paths`);
  if (searches.join(' ').length > searchCharactersMax) {
    refuse(
      'searches',
      `must not have more than ${searchCharactersMax} characters (including spaces) in the search list`,
    );
  }
  return [
    ...errors,
    ...nameservers.flatMap((server, index) => checked(server, configAt.child('nameservers').index(index), validateIp)),
    ...searches.flatMap((search, index) => validateSearch(search, configAt.child('searches').index(index))),
    ...each(config['options'], configAt.child('options'), (option, optionAt) =>
      asText(option['name']) === '' ? [fieldError.required(String(optionAt), 'must not be empty')] : [],
    ),
  ];
}

/** As host names, but resolvers know labels that begin with an underscore too; a last dot, or a dot alone, is the root. */
function validateSearch(search: string, at: FieldPath): FieldError[] {
  const name = search.endsWith('.') ? search.slice(0, -1) : search;
  if (name === '' && search === '.') return [];
  const isGood =
    name.length <= 253 && name.split('.').every((label) => /^_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/.test(label));
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
  return isGood ? [] : [fieldError.invalid(String(at), name, message)];
}

function validateResourceClaims(claims: unknown, at: FieldPath): FieldError[] {
  return [
    ...each(claims, at, (claim, claimAt) => {
      const errors = requiredName(asText(claim['name']), claimAt.child('name'), validateDnsLabel);
      const { resourceClaimName, resourceClaimTemplateName } = claim;
      if (isSet(resourceClaimName) === isSet(resourceClaimTemplateName)) {
        const rule = isSet(resourceClaimName) ? 'at most one of' : 'must specify one of:';
        const tail = isSet(resourceClaimName) ? ' may be specified' : '';
        const shown = {
          Name: asText(claim['name']),
          ResourceClaimName: resourceClaimName ?? null,
          ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
        };
        const message = `${rule} \`resourceClaimName\` or \`resourceClaimTemplateName\`${tail}`;
        errors.push(fieldError.invalid(String(claimAt), shown, message));
      }
      for (const field of ['resourceClaimName', 'resourceClaimTemplateName']) {
        errors.push(...named(claim, claimAt, field, validateDnsSubdomain));
      }
      return errors;
    }),
    ...duplicates(
      asItems(claims),
      (claim) => asText(claim['name']),
      (index) => at.index(index).child('name'),
    ),
  ];
}
