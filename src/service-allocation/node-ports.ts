import type { ServicePort, ServiceSpec } from '../catalog/types/core.v1.js';
import { ApiError } from '../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../machinery/field-error.js';
import type { Mutable } from '../machinery/mutable.js';
import { allocatesNodePorts } from './service.types.js';
import { needsHealthCheck, nodePortsIn } from './holdings.js';

/** Allocates node ports for one write of a Service. */
export interface PortTaker {
  /** Allocates a requested port. Returns an error message if it is not available. */
  take(port: number): Promise<string | undefined>;
  /** Allocates any free port; undefined if there is none. */
  takeAny(): Promise<number | undefined>;
}

const rangeIsFull = 'range is full';

/** Thrown if a requested node port is not available. */
export class NodePortRefused extends Error {
  constructor(readonly errors: readonly FieldError[]) {
    super('a requested node port is not available');
  }
}

/** Fills in the node ports of a Service. It keeps those that it already has. */
export async function chooseNodePorts(
  spec: Mutable<ServiceSpec>,
  before: ServiceSpec | undefined,
  taker: PortTaker,
): Promise<void> {
  if (allocatesNodePorts(spec)) await (before ? choosePortsAgain(spec, before, taker) : chooseFirstPorts(spec, taker));
  if (needsHealthCheck(spec) && !(before && needsHealthCheck(before))) await chooseHealthCheckPort(spec, taker);
}

/**
 * True if every port without a requested node port gets one. False for load balancers that reach Pods directly; they get
 * only the node ports that are requested.
 */
const allocatesUnrequested = ({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean =>
  type === 'NodePort' || allocateLoadBalancerNodePorts;

/** Allocates node ports for a new Service. Ports with one number and several protocols (DNS) share a node port. */
async function chooseFirstPorts(spec: Mutable<ServiceSpec>, taker: PortTaker): Promise<void> {
  const ports: Mutable<ServicePort>[] = spec.ports ?? [];
  const chosen = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    const { nodePort: requested = 0, port: number = 0 } = port;
    if (requested === 0 && !allocatesUnrequested(spec)) continue;
    const shared = chosen.get(number);
    if (shared === undefined) {
      const withRequest = ports.find((it) => (it.port ?? 0) === number && it.nodePort);
      const nodePort = await takeFor(index, withRequest?.nodePort ?? 0, taker);
      port.nodePort = nodePort;
      chosen.set(number, nodePort);
    } else if (requested === 0) port.nodePort = shared;
    else if (requested !== shared) await takeFor(index, requested, taker);
  }
}

async function choosePortsAgain(spec: Mutable<ServiceSpec>, before: ServiceSpec, taker: PortTaker): Promise<void> {
  const allocated = nodePortsIn(before);
  const taken = new Set<number>();
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const { nodePort: requested = 0 } = port;
    if (requested === 0 && !allocatesUnrequested(spec)) continue;
    if (requested !== 0 && (allocated.has(requested) || taken.has(requested))) continue;
    const nodePort = await takeFor(index, requested, taker);
    port.nodePort = nodePort;
    taken.add(nodePort);
  }
}

async function takeFor(index: number, requested: number, taker: PortTaker): Promise<number> {
  if (requested !== 0) {
    const problem = await taker.take(requested);
    if (problem === undefined) return requested;
    const nodePortAt = path('spec').child('ports').index(index).child('nodePort');
    throw new NodePortRefused([fieldError.invalid(nodePortAt, requested, problem)]);
  }
  const any = await taker.takeAny();
  if (any === undefined) throw ApiError.internal(`failed to allocate a nodePort: ${rangeIsFull}`);
  return any;
}

async function chooseHealthCheckPort(spec: Mutable<ServiceSpec>, taker: PortTaker): Promise<void> {
  const { healthCheckNodePort: requested = 0 } = spec;
  if (requested !== 0) {
    const problem = await taker.take(requested);
    if (problem === undefined) return;
    throw new NodePortRefused([fieldError.invalid('spec.healthCheckNodePort', requested, problem)]);
  }
  const any = await taker.takeAny();
  if (any === undefined) throw ApiError.internal(`failed to allocate a HealthCheck NodePort 0: ${rangeIsFull}`);
  spec.healthCheckNodePort = any;
}
