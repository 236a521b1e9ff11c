import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { between, checked, each, notNegative, oneOf, onlyOneOf, required } from '../../../machinery/field-rules.js';
import { asFields, asNumber, asText, asTexts, isSet, type Fields } from '../../../machinery/fields.js';
import { validateHttpHeaderName, validatePortName, validatePortNumber } from '../../../machinery/names.js';

/** Probes and lifecycle hooks: both hold exactly one way to reach into, or knock at, a container. */
export function validateProbes(container: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateProbe(container['livenessProbe'], at.child('livenessProbe'), isSuccessAtOnce),
    ...validateProbe(container['readinessProbe'], at.child('readinessProbe'), (probe, probeAt) =>
      isSet(probe['terminationGracePeriodSeconds'])
        ? [
            fieldError.invalid(
              String(probeAt.child('terminationGracePeriodSeconds')),
              probe['terminationGracePeriodSeconds'],
              'must not be set for readinessProbes',
            ),
          ]
        : [],
    ),
    ...validateProbe(container['startupProbe'], at.child('startupProbe'), isSuccessAtOnce),
  ];
}

const times = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

function validateProbe(
  probe: unknown,
  at: FieldPath,
  rule: (probe: Fields, at: FieldPath) => FieldError[],
): FieldError[] {
  if (!isSet(probe)) return [];
  const fields = asFields(probe);
  const grace = fields['terminationGracePeriodSeconds'];
  return [
    ...validateHandler(fields, at, ['exec', 'httpGet', 'tcpSocket', 'grpc']),
    ...times.flatMap((field) => notNegative(fields[field], at.child(field))),
    ...(isSet(grace) && asNumber(grace) <= 0
      ? [fieldError.invalid(String(at.child('terminationGracePeriodSeconds')), grace, 'must be greater than 0')]
      : []),
    ...rule(fields, at),
  ];
}

/** What restarts a container on failure has nothing to wait for once it succeeds. */
function isSuccessAtOnce(probe: Fields, at: FieldPath): FieldError[] {
  const threshold = probe['successThreshold'];
  return isSet(threshold) && threshold !== 1
    ? [fieldError.invalid(String(at.child('successThreshold')), threshold, 'must be 1')]
    : [];
}

export function validateLifecycle(lifecycle: unknown, at: FieldPath, graceSeconds: unknown): FieldError[] {
  const hooks = asFields(lifecycle);
  return ['postStart', 'preStop'].flatMap((hook) => {
    if (!isSet(hooks[hook])) return [];
    const handler = asFields(hooks[hook]);
    return [
      ...validateHandler(handler, at.child(hook), ['exec', 'httpGet', 'tcpSocket', 'sleep']),
      ...validateSleep(handler['sleep'], at.child(hook, 'sleep'), graceSeconds),
    ];
  });
}

/** Without a grace period, which has an error of its own then, nothing bounds the sleep. */
function validateSleep(sleep: unknown, at: FieldPath, graceSeconds: unknown): FieldError[] {
  if (!isSet(sleep) || typeof graceSeconds !== 'number') return [];
  const seconds = asNumber(asFields(sleep)['seconds']);
  if (seconds >= 0 && seconds <= graceSeconds) return [];
  const message = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
  return [fieldError.invalid(String(at), seconds, message)];
}

function validateHandler(handler: Fields, at: FieldPath, kinds: readonly string[]): FieldError[] {
  const { taken, errors } = onlyOneOf(handler, at, kinds, 'may not specify more than 1 handler type');
  if (taken === undefined) return [fieldError.required(String(at), 'must specify a handler type')];
  return [...handlerRules[taken]!(asFields(handler[taken]), at.child(taken)), ...errors];
}

const handlerRules: Readonly<Record<string, (handler: Fields, at: FieldPath) => FieldError[]>> = {
  exec: (exec, at) => (asTexts(exec['command']).length === 0 ? [fieldError.required(String(at.child('command')))] : []),
  httpGet: (get, at) => [
    ...required(get['path'], at.child('path')),
    ...validatePort(get['port'], at.child('port')),
    ...oneOf(asText(get['scheme']), at.child('scheme'), ['HTTP', 'HTTPS']),
    ...each(get['httpHeaders'], at.child('httpHeaders'), (header) =>
      checked(asText(header['name']), at.child('httpHeaders'), validateHttpHeaderName),
    ),
  ],
  tcpSocket: (socket, at) => validatePort(socket['port'], at.child('port')),
  grpc: (grpc, at) =>
    validatePortNumber(asNumber(grpc['port'])).map((message) =>
      fieldError.invalid(String(at.child('port')), asNumber(grpc['port']), message),
    ),
  sleep: () => [],
};

/** A port by number, or by the name that a container gives it. */
export function validatePort(port: unknown, at: FieldPath): FieldError[] {
  if (typeof port === 'string') return checked(port, at, validatePortName);
  return between(asNumber(port), at, 1, 65535);
}
