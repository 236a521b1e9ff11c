import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../catalog/types/networking.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, oneOf, required } from '../../machinery/field-rules.js';
import { validateCidr } from '../../machinery/ip-addresses.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain, validatePortName, validatePortNumber } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { cidrWarnings } from './address-warnings.js';
import { isStrictSubset } from './canonical.validation.js';

const at = path('spec');

export const networkPolicyStrategy: Strategy<NetworkPolicy> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPolicy,
  validateCreate: validatePolicy,
  validateUpdate: validatePolicy,
  warnings: ({ spec: { ingress = [], egress = [] } = {} }) => [
    ...ingress.flatMap(({ from }, i) => blockWarnings(from, at.child('ingress').index(i).child('from'))),
    ...egress.flatMap(({ to }, i) => blockWarnings(to, at.child('egress').index(i).child('to'))),
  ],
};

/** The default policyTypes are Ingress, and Egress if the policy has egress rules. */
function defaultPolicy(policy: Mutable<NetworkPolicy>): void {
  const spec = (policy.spec ??= {});
  spec.podSelector ??= {};
  const { ingress = [], egress = [], policyTypes: types = [] } = spec;
  if (types.length === 0) spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  for (const { ports = [] } of [...ingress, ...egress]) for (const port of ports) port.protocol ??= 'TCP';
}

const policyTypes = ['Ingress', 'Egress'];

function validatePolicy({ spec = {} }: NetworkPolicy): FieldError[] {
  const { policyTypes: types = [] } = spec;
  const typesAt = at.child('policyTypes');
  return [
    ...validateLabelSelectorObject(spec.podSelector, at.child('podSelector')),
    ...each(spec.ingress, at.child('ingress'), ({ ports, from }, ruleAt) => [
      ...each(ports, ruleAt.child('ports'), validatePort),
      ...each(from, ruleAt.child('from'), validatePeer),
    ]),
    ...each(spec.egress, at.child('egress'), ({ ports, to }, ruleAt) => [
      ...each(ports, ruleAt.child('ports'), validatePort),
      ...each(to, ruleAt.child('to'), validatePeer),
    ]),
    ...(types.length > policyTypes.length
      ? [fieldError.invalid(typesAt, types, 'may not specify more than two policyTypes')]
      : types.flatMap((type, index) => oneOf(type, typesAt.index(index), policyTypes))),
  ];
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, policyPortAt: FieldPath): FieldError[] {
  const portAt = policyPortAt.child('port');
  const endPortAt = policyPortAt.child('endPort');
  const errors = oneOf(protocol, policyPortAt.child('protocol'), ['TCP', 'UDP', 'SCTP']);
  const validateNumber = (value: number, valueAt: FieldPath) =>
    validatePortNumber(value).map((message) => fieldError.invalid(valueAt, value, message));
  if (typeof port === 'number') {
    errors.push(...validateNumber(port, portAt));
    if (endPort === undefined) return errors;
    // The message has the value of port, as in kube-apiserver.
    if (endPort < port) errors.push(fieldError.invalid(endPortAt, port, 'must be greater than or equal to `port`'));
    return [...errors, ...validateNumber(endPort, endPortAt)];
  }
  if (endPort !== undefined) {
    const lack = port === undefined ? 'not specified' : 'non-numeric';
    errors.push(fieldError.invalid(endPortAt, endPort, `may not be specified when \`port\` is ${lack}`));
  }
  return port === undefined ? errors : [...errors, ...checked(port, portAt, validatePortName)];
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, peerAt: FieldPath): FieldError[] {
  const errors = [
    ...validateLabelSelectorObject(podSelector, peerAt.child('podSelector')),
    ...validateLabelSelectorObject(namespaceSelector, peerAt.child('namespaceSelector')),
    ...(ipBlock ? validateIpBlock(ipBlock, peerAt.child('ipBlock')) : []),
  ];
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (!hasSelector && !ipBlock) errors.push(fieldError.required(peerAt, 'must specify a peer'));
  else if (hasSelector && ipBlock) {
    errors.push(fieldError.forbidden(peerAt, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateIpBlock({ cidr = '', except = [] }: IPBlock, blockAt: FieldPath): FieldError[] {
  const cidrAt = blockAt.child('cidr');
  if (cidr === '') return required(cidr, cidrAt);
  const errors = checked(cidr, cidrAt, validateCidr);
  if (errors.length > 0) return errors;
  return except.flatMap((exception, index) => {
    const exceptionAt = blockAt.child('except').index(index);
    const problems = checked(exception, exceptionAt, validateCidr);
    if (problems.length > 0 || isStrictSubset(cidr, exception)) return problems;
    return [fieldError.invalid(exceptionAt, exception, 'must be a strict subset of `cidr`')];
  });
}

function blockWarnings(peers: readonly NetworkPolicyPeer[] = [], peersAt: FieldPath): string[] {
  return peers.flatMap(({ ipBlock }, i) => {
    if (!ipBlock) return [];
    const { cidr = '', except = [] } = ipBlock;
    const blockAt = peersAt.index(i).child('ipBlock');
    return [
      ...cidrWarnings(cidr, blockAt.child('cidr')),
      ...except.flatMap((exception, j) => cidrWarnings(exception, blockAt.child('except').index(j))),
    ];
  });
}
