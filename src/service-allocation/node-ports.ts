import { ApiError } from '../machinery/api-error.js';
import { fieldError, path, type FieldError } from '../machinery/field-error.js';
import { asItems, asNumber, isSet, type Fields } from '../machinery/fields.js';
import { allocatesNodePorts } from './service.types.js';
import { holdingsOf, needsHealthCheck } from './holdings.js';

/** Takes node ports for one write of a service. */
export interface PortTaker {
  /** What is wrong with taking this one, if anything is. */
  take(port: number): Promise<string | undefined>;
  /** Any one; undefined when there is none. */
  takeAny(): Promise<number | undefined>;
}

const rangeIsFull = 'range is full';

/** A node port that the service asks for cannot be had. */
export class NodePortRefused extends Error {
  constructor(readonly errors: readonly FieldError[]) {
    super('a node port cannot be had');
  }
}

/** Fills in the node ports that a service is to have. It keeps those that it had. */
export async function chooseNodePorts(spec: Fields, before: Fields | undefined, taker: PortTaker): Promise<void> {
  if (allocatesNodePorts(spec)) await (before ? choosePortsAgain(spec, before, taker) : chooseFirstPorts(spec, taker));
  if (needsHealthCheck(spec) && !(before && needsHealthCheck(before))) await chooseHealthCheckPort(spec, taker);
}

/** Balancers that reach pods by themselves need none; but who asks for one gets it. */
const takesByItself = (spec: Fields): boolean =>
  spec['type'] === 'NodePort' ||
  !isSet(spec['allocateLoadBalancerNodePorts']) ||
  spec['allocateLoadBalancerNodePorts'] === true;

/** Ports of one number and several protocols (DNS) share their node port. */
async function chooseFirstPorts(spec: Fields, taker: PortTaker): Promise<void> {
  const ports = asItems(spec['ports']);
  const chosen = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    const asked = asNumber(port['nodePort']);
    if (asked === 0 && !takesByItself(spec)) continue;
    const number = asNumber(port['port']);
    const shared = chosen.get(number);
    if (shared === undefined) {
      const askedByAny = ports.find((it) => asNumber(it['port']) === number && asNumber(it['nodePort']) !== 0);
      const nodePort = await takeFor(index, asNumber(askedByAny?.['nodePort']), taker);
      port['nodePort'] = nodePort;
      chosen.set(number, nodePort);
    } else if (asked === 0) port['nodePort'] = shared;
    else if (asked !== shared) await takeFor(index, asked, taker);
  }
}

async function choosePortsAgain(spec: Fields, before: Fields, taker: PortTaker): Promise<void> {
  const had = holdingsOf({ kind: '', apiVersion: '', metadata: {}, spec: before }).nodePorts;
  const taken = new Set<number>();
  for (const [index, port] of asItems(spec['ports']).entries()) {
    const asked = asNumber(port['nodePort']);
    if (asked === 0 && !takesByItself(spec)) continue;
    if (asked !== 0 && (had.has(asked) || taken.has(asked))) continue;
    const nodePort = await takeFor(index, asked, taker);
    port['nodePort'] = nodePort;
    taken.add(nodePort);
  }
}

async function takeFor(index: number, asked: number, taker: PortTaker): Promise<number> {
  if (asked !== 0) {
    const problem = await taker.take(asked);
    if (problem === undefined) return asked;
    const where = String(path('spec').child('ports').index(index).child('nodePort'));
    throw new NodePortRefused([fieldError.invalid(where, asked, problem)]);
  }
  const any = await taker.takeAny();
  if (any === undefined) throw ApiError.internal(`failed to allocate a nodePort: ${rangeIsFull}`);
  return any;
}

async function chooseHealthCheckPort(spec: Fields, taker: PortTaker): Promise<void> {
  const asked = asNumber(spec['healthCheckNodePort']);
  if (asked !== 0) {
    const problem = await taker.take(asked);
    if (problem === undefined) return;
    throw new NodePortRefused([fieldError.invalid('spec.healthCheckNodePort', asked, problem)]);
  }
  const any = await taker.takeAny();
  if (any === undefined) throw ApiError.internal(`failed to allocate a HealthCheck NodePort 0: ${rangeIsFull}`);
  spec['healthCheckNodePort'] = any;
}
