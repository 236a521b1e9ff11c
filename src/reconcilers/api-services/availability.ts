import type { APIService, APIServiceCondition } from '../../catalog/types/apiregistration.v1.js';
import type { Service } from '../../catalog/types/core.v1.js';
import type { EndpointSlice } from '../../catalog/types/discovery.v1.js';
import type { RemoteVersion } from '../../aggregation/remote-version.js';

/** The result of the checks of an APIService: status, reason and message of its condition Available. */
export interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export const passed: Verdict = { status: 'True', reason: 'Passed', message: 'all checks passed' };

export const local: Verdict = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

export function failedDiscovery(message: string): Verdict {
  return { status: 'False', reason: 'FailedDiscoveryCheck', message };
}

/** Returns why the Service of an APIService cannot be called; undefined if a call can be tried. */
export function serviceProblem(
  { service: { namespace, name, port } }: RemoteVersion,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Verdict | undefined {
  const subject = `service/${name} in "${namespace}"`;
  if (!service) return unavailable('ServiceNotFound', `${subject} is not present`);
  // The endpoints of Services of other types need not be known here.
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const found = service.spec?.ports?.find((each) => each.port === port);
  if (!found) return unavailable('ServicePortError', `${subject} is not listening on port ${port}`);
  if (slices.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${subject}`);
  const portName = found.name ?? '';
  if (slices.some((slice) => hasEndpoint(slice, portName))) return undefined;
  return unavailable(
    'MissingEndpoints',
    `endpointslices for ${subject} have no addresses with port name "${portName}"`,
  );
}

function unavailable(reason: string, message: string): Verdict {
  return { status: 'False', reason, message };
}

/** True if an endpoint is ready, or its readiness unknown, and the port is one of the slice. */
function hasEndpoint({ endpoints, ports }: EndpointSlice, portName: string): boolean {
  if (!endpoints?.some(({ conditions }) => conditions?.ready !== false)) return false;
  return ports?.some(({ name, port }) => (name ?? '') === portName && port !== undefined && port !== null) ?? false;
}

/** Returns the conditions with the verdict; the same list if the condition Available has it already. */
export function conditionsWith(
  { status }: APIService,
  { status: wanted, reason, message }: Verdict,
  now: string,
): readonly APIServiceCondition[] | undefined {
  const conditions = status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Available');
  if (before && isSameVerdict(before, { status: wanted, reason, message })) return status?.conditions;
  const lastTransitionTime = before?.status === wanted ? (before.lastTransitionTime ?? now) : now;
  const condition = { type: 'Available', status: wanted, lastTransitionTime, reason, message };
  return before ? conditions.map((each) => (each === before ? condition : each)) : [...conditions, condition];
}

/** Messages of failed calls name an endpoint, which is another one in each check: they are not compared. */
function isSameVerdict(condition: APIServiceCondition, { status, reason, message }: Verdict): boolean {
  if (condition.status !== status || condition.reason !== reason) return false;
  return reason === 'FailedDiscoveryCheck' || condition.message === message;
}
