import type { Taint } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { foreignLabels } from '../../admission/nodes/node-labels.js';
import { Quantity } from '../../machinery/quantity.js';
import { validateLabelValue, validateQualifiedName } from '../../machinery/names.js';
import type { AgentOptions } from '../options/agent-options.js';
import { parseEvictionThresholds, type EvictionThresholds } from './eviction-thresholds.js';

/** Settings of a Node, from the flags of the agent. */
export interface NodeSettings {
  /** Lower-case; the name of the Node and of its Lease. */
  readonly nodeName: string;
  /** Value of the label hostname and of the address Hostname. */
  readonly hostname: string;
  /** --node-ip: one address, or one of each family. Empty: the address of the default route. */
  readonly nodeIps: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** False: the Node is made by an administrator; the agent only updates its status. */
  readonly registersNode: boolean;
  readonly isSchedulable: boolean;
  readonly providerId: string;
  readonly podsMax: number;
  /** Sum of --system-reserved and --kube-reserved: quantities by resource. */
  readonly reserved: readonly Readonly<Record<string, string>>[];
  readonly evictionHard: EvictionThresholds;
  /** A pressure condition remains for this time after the pressure has ended. */
  readonly pressureTransitionMs: number;
  /** Port of the HTTPS server of the agent. */
  readonly port: number;
  /** The file system of this directory is the ephemeral storage. */
  readonly rootDirectory: string;
  /** Infinity: all images. */
  readonly imagesMax: number;
  /** --node-status-update-frequency: the status is compared so often. */
  readonly statusUpdateMs: number;
  /** --node-status-report-frequency: an unchanged status is sent so often. */
  readonly statusReportMs: number;
  readonly leaseDurationSeconds: number;
  readonly naming: NamingProfile;
}

export function nodeSettings(options: AgentOptions, port: number): NodeSettings {
  const { node, nodeName, naming, rootDirectory } = options;
  const thresholds = parseEvictionThresholds(node.evictionHard);
  if (typeof thresholds === 'string') throw new Error(thresholds);
  return {
    nodeName,
    hostname: nodeName,
    nodeIps: node.ips,
    labels: node.labels,
    taints: node.taints.map(parseTaint),
    registersNode: node.isRegistered,
    isSchedulable: node.isSchedulable,
    providerId: node.providerId,
    podsMax: node.maxPods,
    reserved: [node.systemReserved, node.kubeReserved],
    evictionHard: thresholds,
    pressureTransitionMs: node.pressureTransitionMs,
    port,
    rootDirectory,
    imagesMax: node.imagesMax < 0 ? Infinity : node.imagesMax,
    statusUpdateMs: node.statusUpdateMs,
    statusReportMs: node.statusReportMs,
    leaseDurationSeconds: node.leaseSeconds,
    naming,
  };
}

/** `key=value:Effect`, `key:Effect` */
function parseTaint(text: string): Taint {
  const effectAt = text.lastIndexOf(':');
  const [key = '', value = ''] = text.slice(0, effectAt).split('=');
  return { key, ...(value !== '' && { value }), effect: text.slice(effectAt + 1) };
}

/** Returns the errors of --node-labels: the server would refuse the whole Node. */
export function labelProblems(labels: Readonly<Record<string, string>>, naming: NamingProfile): string[] {
  const malformed = Object.entries(labels).flatMap(([key, value]) => [
    ...validateQualifiedName(key).map((problem) => `"${key}" is not a label key: ${problem}`),
    ...validateLabelValue(value).map((problem) => `"${value}" of ${key} is not a label value: ${problem}`),
  ]);
  const foreign = foreignLabels(Object.keys(labels), naming).map(
    (key) => `a node may not set the label ${key} itself; let an administrator set it`,
  );
  return [...malformed, ...foreign];
}

/** Returns the errors of --system-reserved and --kube-reserved. */
export function reservedProblems(reserved: Readonly<Record<string, string>>): string[] {
  return Object.entries(reserved).flatMap(([name, amount]) => {
    if (!reservable.includes(name)) return [`${name} cannot be reserved; only ${reservable.join(', ')}`];
    const quantity = Quantity.read(amount);
    const isAmount = typeof quantity !== 'string' && quantity.sign >= 0;
    return isAmount ? [] : [`"${amount}" of ${name} is not a quantity of zero or more`];
  });
}

/** `pid` is accepted as the kubelet does; this agent has no use for it. */
const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'];
