import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, each, oneOf } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateLabelValue, validateQualifiedName } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCidr } from '../../machinery/ip-addresses.js';
import { validateAvoidedPods } from './avoid-pods.validation.js';
import { isNegative } from './pod/pod-resources.js';
import { taintEffects } from './pod/scheduling.validation.js';

export function nodeStrategy(naming: NamingProfile): Strategy {
  const avoids = naming.label('preferAvoidPods', 'scheduler.alpha');
  const validateAnnotations = ({ metadata: { annotations } }: KubeObject): FieldError[] => {
    const text = annotations?.[avoids] ?? '';
    return text === '' ? [] : validateAvoidedPods(text, avoids, path('metadata').child('annotations'));
  };
  return {
    ...plainStrategy,
    validateCreate: (node) => [...validateAnnotations(node), ...plainStrategy.validateCreate(node)],
    validateUpdate: (node, old) => [...validateAnnotations(node), ...plainStrategy.validateUpdate(node, old)],
  };
}

const plainStrategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultNode,
  prepareForCreate: dropConfigSource,
  prepareForUpdate(node, old) {
    if (!isSet(asFields(old['spec'])['configSource'])) dropConfigSource(node);
    node['status'] = old['status'];
  },
  validateCreate: validateNode,
  // Taints are looked at once more, and clients are told twice.
  validateUpdate: (node, old) => [
    ...validateNode(node),
    ...validateFixed(node, old),
    ...validateTaints(asFields(node['spec'])['taints']),
  ],
} satisfies Strategy;

const systemInfo = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];

function defaultNode(node: Fields): void {
  const spec = makeFields(node, 'spec');
  mirrorPodCidr(spec);
  const status = makeFields(node, 'status');
  if (isSet(status['capacity'])) fillIn(status, 'allocatable', structuredClone(status['capacity']));
  for (const condition of asItems(status['conditions'])) {
    for (const time of ['lastHeartbeatTime', 'lastTransitionTime']) condition[time] ??= null;
  }
  fillIn(makeFields(makeFields(status, 'daemonEndpoints'), 'kubeletEndpoint'), 'Port', 0);
  const info = makeFields(status, 'nodeInfo');
  for (const field of systemInfo) fillIn(info, field, '');
}

/** Nothing reads it any more; nodes that still have one keep it. */
function dropConfigSource(node: KubeObject): void {
  delete asFields(node['spec'])['configSource'];
}

/** The first range and the list of all ranges are one thing said twice; the single one is believed. */
function mirrorPodCidr(spec: Fields): void {
  const cidr = asText(spec['podCIDR']);
  const cidrs = asTexts(spec['podCIDRs']);
  if (cidr === '') {
    if (cidrs.length > 0) spec['podCIDR'] = cidrs[0];
  } else if (cidrs[0] !== cidr) spec['podCIDRs'] = [cidr];
}

function validateNode(node: KubeObject): FieldError[] {
  const spec = asFields(node['spec']);
  return [...validateTaints(spec['taints']), ...validatePodCidrs(asTexts(spec['podCIDRs']))];
}

/** One range at most for each IP family. */
function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const at = path('spec').child('podCIDRs');
  const errors = cidrs.flatMap((cidr, index) => checked(cidr, at.index(index), validateCidr));
  const families = new Set(cidrs.map((cidr) => cidr.includes(':')));
  if (errors.length > 0 || families.size === cidrs.length) return errors;
  return [fieldError.invalid(String(at), [...cidrs], 'may specify no more than one CIDR for each IP family')];
}

/** Clients know the path of these errors to begin with `metadata`, wrong as it is. */
function validateTaints(taints: unknown): FieldError[] {
  const seen = new Set<string>();
  return each(taints, path('metadata').child('taints'), (taint, at) => {
    const key = asText(taint['key']);
    const value = asText(taint['value']);
    const effect = asText(taint['effect']);
    const errors = [
      ...checked(key, at.child('key'), validateQualifiedName),
      ...checked(value, at.child('value'), validateLabelValue),
    ];
    if (effect === '') errors.push(fieldError.required(String(at.child('effect'))));
    else errors.push(...oneOf(effect, at.child('effect'), taintEffects));
    if (seen.has(`${key}:${effect}`)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint['timeAdded'] ?? null };
      const duplicate = fieldError.duplicate(String(at), shown);
      errors.push({ ...duplicate, detail: `${duplicate.detail}: taints must be unique by key and effect pair` });
    }
    seen.add(`${key}:${effect}`);
    return errors;
  });
}

/** What a node is given once. */
function validateFixed(node: KubeObject, old: KubeObject): FieldError[] {
  const spec = asFields(node['spec']);
  const before = asFields(old['spec']);
  const errors: FieldError[] = [];
  if (asTexts(before['podCIDRs']).length > 0 && !deepEqual(spec['podCIDRs'], before['podCIDRs'])) {
    const message = 'node updates may not change podCIDR except from "" to valid';
    errors.push(fieldError.forbidden('spec.podCIDRs', message));
  }
  if (asText(before['providerID']) !== '' && spec['providerID'] !== before['providerID']) {
    const message = 'node updates may not change providerID except from "" to valid';
    errors.push(fieldError.forbidden('spec.providerID', message));
  }
  if (asText(spec['externalID']) !== asText(before['externalID'])) {
    errors.push(fieldError.forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}

export const nodeStatusSubresource = statusSubresource({
  validate(node) {
    const status = asFields(node['status']);
    const at = path('status');
    const addresses = asItems(status['addresses']);
    const seen = new Set<string>();
    return [
      ...addresses.flatMap((address, index) => {
        const shown = { Type: asText(address['type']), Address: asText(address['address']) };
        const key = `${shown.Type} ${shown.Address}`;
        if (seen.has(key)) return [fieldError.duplicate(String(at.child('addresses').index(index)), shown)];
        seen.add(key);
        return [];
      }),
      ...['capacity', 'allocatable'].flatMap((field) =>
        Object.entries(asFields(status[field])).flatMap(([name, amount]) =>
          isNegative(amount)
            ? [fieldError.invalid(String(at.child(field, name)), amount, 'must be greater than or equal to 0')]
            : [],
        ),
      ),
    ];
  },
});
