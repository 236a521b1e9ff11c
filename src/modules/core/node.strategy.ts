import type { Node, NodeSpec, NodeStatus, Taint } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, each, oneOf } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain, validateLabelValue, validateQualifiedName } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCidr } from '../../machinery/ip-addresses.js';
import { validateAvoidedPods } from './avoid-pods.validation.js';
import { isNegative } from './pod/pod-resources.js';
import { taintEffects } from './pod/scheduling.validation.js';

export function nodeStrategy(naming: NamingProfile): Strategy<Node> {
  const annotation = naming.label('preferAvoidPods', 'scheduler.alpha');
  const validateAnnotations = ({ metadata: { annotations } }: Node): FieldError[] => {
    const text = annotations?.[annotation] ?? '';
    return text === '' ? [] : validateAvoidedPods(text, annotation, path('metadata').child('annotations'));
  };
  return {
    validateName: nameIsDnsSubdomain,
    default: defaultNode,
    /** A kubelet registers its Node with the status. */
    initialStatus: 'submitted',
    prepareForCreate: dropConfigSource,
    prepareForUpdate(node, old) {
      if (old.spec?.configSource === undefined) dropConfigSource(node);
    },
    validateCreate: (node) => [...validateAnnotations(node), ...validateNode(node), ...validateSwap(node)],
    /** Validates taints twice, so that their errors are reported twice, as in kube-apiserver. */
    validateUpdate: (node, old) => [
      ...validateAnnotations(node),
      ...validateNode(node),
      ...validateImmutableFields(node, old),
      ...validateTaints(node.spec?.taints),
    ],
  };
}

/** The fields of nodeInfo that are always present. */
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
] as const;

function defaultNode(node: Mutable<Node>): void {
  mirrorPodCidr((node.spec ??= {}));
  const status: Mutable<NodeStatus> = (node.status ??= {});
  if (status.capacity) status.allocatable ??= structuredClone(status.capacity);
  for (const condition of status.conditions ?? []) {
    condition.lastHeartbeatTime ??= null;
    condition.lastTransitionTime ??= null;
  }
  const endpoints = (status.daemonEndpoints ??= {});
  const kubelet = (endpoints.kubeletEndpoint ??= {});
  kubelet.Port ??= 0;
  const info = (status.nodeInfo ??= {});
  for (const field of systemInfo) info[field] ??= '';
}

/** Deletes spec.configSource, which no component reads any more. Nodes that already have it keep it. */
function dropConfigSource({ spec }: Mutable<Node>): void {
  delete spec?.configSource;
}

/** Makes podCIDR and podCIDRs agree: podCIDR is the first of podCIDRs. If they differ, podCIDR wins. */
function mirrorPodCidr(spec: Mutable<NodeSpec>): void {
  const { podCIDR: cidr = '', podCIDRs: cidrs = [] } = spec;
  if (cidr === '') {
    if (cidrs[0] !== undefined) spec.podCIDR = cidrs[0];
  } else if (cidrs[0] !== cidr) spec.podCIDRs = [cidr];
}

function validateNode({ spec = {} }: Node): FieldError[] {
  return [...validateTaints(spec.taints), ...validatePodCidrs(spec.podCIDRs ?? [])];
}

/** Only new Nodes are checked. The error has this field in kube-apiserver too. */
function validateSwap({ status }: Node): FieldError[] {
  const capacity = status?.nodeInfo?.swap?.capacity;
  if (capacity === undefined || capacity > 0) return [];
  const at = path('metadata').child('nodeSwapStatus', 'capacity');
  return [fieldError.invalid(at, capacity, 'must be greater than zero')];
}

/** Allows at most one CIDR per IP family. */
function validatePodCidrs(cidrs: readonly string[]): FieldError[] {
  const at = path('spec').child('podCIDRs');
  const errors = cidrs.flatMap((cidr, index) => checked(cidr, at.index(index), validateCidr));
  const families = new Set(cidrs.map((cidr) => cidr.includes(':')));
  if (errors.length > 0 || families.size === cidrs.length) return errors;
  return [fieldError.invalid(at, [...cidrs], 'may specify no more than one CIDR for each IP family')];
}

/** Reports errors below `metadata.taints`, although taints are in spec: kube-apiserver has the same wrong path. */
function validateTaints(taints: readonly Taint[] | undefined): FieldError[] {
  const seen = new Set<string>();
  return each(taints, path('metadata').child('taints'), ({ key = '', value = '', effect = '', timeAdded }, at) => {
    const errors = [
      ...checked(key, at.child('key'), validateQualifiedName),
      ...checked(value, at.child('value'), validateLabelValue),
    ];
    if (effect === '') errors.push(fieldError.required(at.child('effect')));
    else errors.push(...oneOf(effect, at.child('effect'), taintEffects));
    if (seen.has(`${key}:${effect}`)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null };
      const duplicate = fieldError.duplicate(at, shown);
      errors.push({ ...duplicate, detail: `${duplicate.detail}: taints must be unique by key and effect pair` });
    }
    seen.add(`${key}:${effect}`);
    return errors;
  });
}

/** Validates the fields that can be set once: podCIDRs and providerID. externalID cannot change at all. */
function validateImmutableFields({ spec = {} }: Node, { spec: before = {} }: Node): FieldError[] {
  const errors: FieldError[] = [];
  if (before.podCIDRs && before.podCIDRs.length > 0 && !deepEqual(spec.podCIDRs, before.podCIDRs)) {
    const message = 'node updates may not change podCIDR except from "" to valid';
    errors.push(fieldError.forbidden('spec.podCIDRs', message));
  }
  if (before.providerID && spec.providerID !== before.providerID) {
    const message = 'node updates may not change providerID except from "" to valid';
    errors.push(fieldError.forbidden('spec.providerID', message));
  }
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) {
    errors.push(fieldError.forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}

const amountFields = ['capacity', 'allocatable'] as const;

export const nodeStatusSubresource = statusSubresource<Node>({
  validate({ status = {} }) {
    const at = path('status');
    const seen = new Set<string>();
    return [
      ...each(status.addresses, at.child('addresses'), ({ type = '', address = '' }, addressAt) => {
        const key = `${type} ${address}`;
        if (seen.has(key)) return [fieldError.duplicate(addressAt, { Type: type, Address: address })];
        seen.add(key);
        return [];
      }),
      ...amountFields.flatMap((field) =>
        Object.entries(status[field] ?? {}).flatMap(([name, amount]) =>
          isNegative(amount)
            ? [fieldError.invalid(at.child(field, name), amount, 'must be greater than or equal to 0')]
            : [],
        ),
      ),
    ];
  },
});
