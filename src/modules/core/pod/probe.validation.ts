import type { Container, Lifecycle, LifecycleHandler, Probe, SleepAction } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import {
  between,
  checked,
  each,
  memberErrors,
  notNegative,
  oneOf,
  onlyOneOf,
  required,
} from '../../../machinery/field-rules.js';
import type { Int64 } from '../../../machinery/int64.js';
import { validateHttpHeaderName, validatePortName, validatePortNumber } from '../../../machinery/names.js';

export function validateProbes(container: Container, at: FieldPath): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...validateProbe(livenessProbe, at.child('livenessProbe'), hasOneSuccess),
    ...validateProbe(readinessProbe, at.child('readinessProbe'), hasNoGracePeriod),
    ...validateProbe(startupProbe, at.child('startupProbe'), hasOneSuccess),
  ];
}

const times = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function validateProbe(
  probe: Probe | undefined,
  at: FieldPath,
  rule: (probe: Probe, at: FieldPath) => FieldError[],
): FieldError[] {
  if (!probe) return [];
  const { terminationGracePeriodSeconds: grace } = probe;
  return [
    ...validateHandler(probe, at, ['exec', 'httpGet', 'tcpSocket', 'grpc']),
    ...times.flatMap((field) => notNegative(probe[field], at.child(field))),
    ...(grace !== undefined && grace <= 0
      ? [fieldError.invalid(at.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0')]
      : []),
    ...rule(probe, at),
  ];
}

/** A probe that restarts containers must succeed after one success. */
function hasOneSuccess({ successThreshold: threshold }: Probe, at: FieldPath): FieldError[] {
  if (threshold === undefined || threshold === 1) return [];
  return [fieldError.invalid(at.child('successThreshold'), threshold, 'must be 1')];
}

function hasNoGracePeriod({ terminationGracePeriodSeconds: grace }: Probe, at: FieldPath): FieldError[] {
  if (grace === undefined) return [];
  return [fieldError.invalid(at.child('terminationGracePeriodSeconds'), grace, 'must not be set for readinessProbes')];
}

type Seconds = Int64 | undefined;

export function validateLifecycle(lifecycle: Lifecycle, at: FieldPath, gracePeriodSeconds: Seconds): FieldError[] {
  return (['postStart', 'preStop'] as const).flatMap((hook) => {
    const handler = lifecycle[hook];
    if (!handler) return [];
    return [
      ...validateHandler(handler, at.child(hook), ['exec', 'httpGet', 'tcpSocket', 'sleep']),
      ...validateSleep(handler.sleep, at.child(hook, 'sleep'), gracePeriodSeconds),
    ];
  });
}

/** Bounds the sleep by terminationGracePeriodSeconds of the Pod; without one there is no bound. */
function validateSleep(sleep: SleepAction | undefined, at: FieldPath, gracePeriodSeconds: Seconds): FieldError[] {
  if (!sleep || gracePeriodSeconds === undefined) return [];
  const { seconds = 0 } = sleep;
  if (seconds >= 0 && seconds <= gracePeriodSeconds) return [];
  const message = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
  return [fieldError.invalid(at, seconds, message)];
}

/** The handlers of probes and of lifecycle hooks. */
type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<LifecycleHandler, 'sleep'>;

function validateHandler(handler: Handler, at: FieldPath, types: readonly (keyof Handler)[]): FieldError[] {
  const { taken, errors } = onlyOneOf(handler, at, types, 'may not specify more than 1 handler type');
  if (taken === undefined) return [fieldError.required(at, 'must specify a handler type')];
  return [...memberErrors(handler, taken, at, handlerRules), ...errors];
}

type HandlerRules = {
  readonly [Type in keyof Handler]-?: (handler: NonNullable<Handler[Type]>, at: FieldPath) => FieldError[];
};

const handlerRules: HandlerRules = {
  exec: ({ command = [] }, at) => (command.length === 0 ? [fieldError.required(at.child('command'))] : []),
  httpGet: ({ path, port, scheme = '', httpHeaders }, at) => [
    ...required(path, at.child('path')),
    ...validatePort(port, at.child('port')),
    ...oneOf(scheme, at.child('scheme'), ['HTTP', 'HTTPS']),
    ...each(httpHeaders, at.child('httpHeaders'), ({ name = '' }) =>
      checked(name, at.child('httpHeaders'), validateHttpHeaderName),
    ),
  ],
  tcpSocket: ({ port }, at) => validatePort(port, at.child('port')),
  grpc: ({ port = 0 }, at) =>
    validatePortNumber(port).map((message) => fieldError.invalid(at.child('port'), port, message)),
  sleep: () => [],
};

/** Accepts a port number or the name of a container port. */
export function validatePort(port: number | string | undefined, at: FieldPath): FieldError[] {
  if (typeof port === 'string') return checked(port, at, validatePortName);
  return between(port ?? 0, at, 1, 65535);
}
