import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required } from '../../machinery/field-rules.js';
import {
  asFields,
  asItems,
  asNumber,
  asText,
  asTexts,
  fillIn,
  isSet,
  makeFields,
  type Fields,
} from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validatePortName, validatePortNumber } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCidr } from '../../machinery/ip-addresses.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { cidrWarnings } from './address-warnings.js';
import { isStrictSubset } from './canonical.validation.js';

const at = path('spec');

export const networkPolicyStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPolicy,
  validateCreate: validatePolicy,
  validateUpdate: validatePolicy,
  warnings: (policy) => [...blockWarnings(policy, 'ingress', 'from'), ...blockWarnings(policy, 'egress', 'to')],
};

/** A policy is about what comes in, and about what goes out where it says something of it. */
function defaultPolicy(policy: Fields): void {
  const spec = makeFields(policy, 'spec');
  makeFields(spec, 'podSelector');
  const egress = asItems(spec['egress']);
  if (asTexts(spec['policyTypes']).length === 0) {
    spec['policyTypes'] = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  }
  for (const rule of [...asItems(spec['ingress']), ...egress]) {
    for (const port of asItems(rule['ports'])) fillIn(port, 'protocol', 'TCP');
  }
}

const policyTypes = ['Ingress', 'Egress'];

function validatePolicy(policy: KubeObject): FieldError[] {
  const spec = asFields(policy['spec']);
  const types = asTexts(spec['policyTypes']);
  const typesAt = at.child('policyTypes');
  return [
    ...validateLabelSelectorObject(spec['podSelector'], at.child('podSelector')),
    ...each(spec['ingress'], at.child('ingress'), (rule, ruleAt) => validateRule(rule, ruleAt, 'from')),
    ...each(spec['egress'], at.child('egress'), (rule, ruleAt) => validateRule(rule, ruleAt, 'to')),
    ...(types.length > policyTypes.length
      ? [fieldError.invalid(String(typesAt), types, 'may not specify more than two policyTypes')]
      : types.flatMap((type, index) => oneOf(type, typesAt.index(index), policyTypes))),
  ];
}

const validateRule = (rule: Fields, ruleAt: FieldPath, peers: 'from' | 'to'): FieldError[] => [
  ...each(rule['ports'], ruleAt.child('ports'), validatePort),
  ...each(rule[peers], ruleAt.child(peers), validatePeer),
];

function validatePort(port: Fields, portAt: FieldPath): FieldError[] {
  const { protocol, port: target, endPort } = port;
  const targetAt = portAt.child('port');
  const endAt = String(portAt.child('endPort'));
  const errors = oneOf(protocol, portAt.child('protocol'), ['TCP', 'UDP', 'SCTP']);
  const number = (value: number, where: string) =>
    validatePortNumber(value).map((message) => fieldError.invalid(where, value, message));
  if (typeof target === 'number') {
    errors.push(...number(target, String(targetAt)));
    if (!isSet(endPort)) return errors;
    if (asNumber(endPort) < target) {
      // The message shows the port, as clients know it.
      errors.push(fieldError.invalid(endAt, target, 'must be greater than or equal to `port`'));
    }
    return [...errors, ...number(asNumber(endPort), endAt)];
  }
  if (isSet(endPort)) {
    const lack = isSet(target) ? 'non-numeric' : 'not specified';
    errors.push(fieldError.invalid(endAt, endPort, `may not be specified when \`port\` is ${lack}`));
  }
  return isSet(target) ? [...errors, ...checked(asText(target), targetAt, validatePortName)] : errors;
}

function validatePeer(peer: Fields, peerAt: FieldPath): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelectorObject(podSelector, peerAt.child('podSelector')),
    ...validateLabelSelectorObject(namespaceSelector, peerAt.child('namespaceSelector')),
    ...(isSet(ipBlock) ? validateIpBlock(asFields(ipBlock), peerAt.child('ipBlock')) : []),
  ];
  const set = [podSelector, namespaceSelector, ipBlock].filter(isSet);
  if (set.length === 0) errors.push(fieldError.required(String(peerAt), 'must specify a peer'));
  else if (set.length > 1 && isSet(ipBlock)) {
    errors.push(fieldError.forbidden(String(peerAt), 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateIpBlock(block: Fields, blockAt: FieldPath): FieldError[] {
  const cidr = asText(block['cidr']);
  const cidrAt = blockAt.child('cidr');
  if (cidr === '') return required(cidr, cidrAt);
  const errors = checked(cidr, cidrAt, validateCidr);
  if (errors.length > 0) return errors;
  return asTexts(block['except']).flatMap((hole, index) => {
    const holeAt = blockAt.child('except').index(index);
    const problems = checked(hole, holeAt, validateCidr);
    if (problems.length > 0 || isStrictSubset(cidr, hole)) return problems;
    return [fieldError.invalid(String(holeAt), hole, 'must be a strict subset of `cidr`')];
  });
}

function blockWarnings(policy: KubeObject, direction: 'ingress' | 'egress', peers: 'from' | 'to'): string[] {
  return asItems(asFields(policy['spec'])[direction]).flatMap((rule, i) =>
    asItems(rule[peers]).flatMap((peer, j) => {
      if (!isSet(peer['ipBlock'])) return [];
      const { cidr, except } = asFields(peer['ipBlock']);
      const blockAt = at.child(direction).index(i).child(peers).index(j).child('ipBlock');
      return [
        ...cidrWarnings(asText(cidr), blockAt.child('cidr')),
        ...asTexts(except).flatMap((hole, k) => cidrWarnings(hole, blockAt.child('except').index(k))),
      ];
    }),
  );
}
