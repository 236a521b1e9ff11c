import { isIP } from 'node:net';
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressLoadBalancerStatus,
  IngressRule,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from '../../catalog/types/networking.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, required, requiredName } from '../../machinery/field-rules.js';
import {
  nameIsDnsSubdomain,
  validateDns1035Label,
  validateDnsSubdomain,
  validatePortName,
  validatePortNumber,
  validateWildcardDnsSubdomain,
} from '../../machinery/names.js';
import { validateIp } from '../../machinery/ip-addresses.js';
import { validateTypedReference } from './typed-reference.validation.js';

const at = path('spec');

export function validateIngressSpec({ defaultBackend, rules, tls, ingressClassName }: IngressSpec): FieldError[] {
  const errors: FieldError[] = [];
  if ((rules ?? []).length === 0 && !defaultBackend) {
    const message = 'either `defaultBackend` or `rules` must be specified';
    errors.push(fieldError.invalid(at, rules ?? null, message));
  }
  if (defaultBackend) errors.push(...validateBackend(defaultBackend, at.child('defaultBackend')));
  errors.push(...each(rules, at.child('rules'), validateRule), ...each(tls, at.child('tls'), validateTls));
  if (ingressClassName !== undefined) {
    errors.push(...checked(ingressClassName, at.child('ingressClassName'), nameIsDnsSubdomain));
  }
  return errors;
}

function validateTls({ hosts = [], secretName: secret = '' }: IngressTLS, tlsAt: FieldPath): FieldError[] {
  return [
    ...hosts.flatMap((host, index) => validateHost(host, tlsAt.child('hosts').index(index))),
    ...(secret === '' ? [] : checked(secret, tlsAt.child('secretName'), nameIsDnsSubdomain)),
  ];
}

const validateHost = (host: string, hostAt: FieldPath): FieldError[] =>
  checked(host, hostAt, host.includes('*') ? validateWildcardDnsSubdomain : validateDnsSubdomain);

function validateRule({ host = '', http }: IngressRule, ruleAt: FieldPath): FieldError[] {
  const hostAt = ruleAt.child('host');
  const errors: FieldError[] = [];
  if (isIP(host) !== 0) errors.push(fieldError.invalid(hostAt, host, 'must be a DNS name, not an IP address'));
  if (host !== '') errors.push(...validateHost(host, hostAt));
  if (!http) return errors;
  const paths = http.paths ?? [];
  const pathsAt = ruleAt.child('http', 'paths');
  if (paths.length === 0) return [...errors, fieldError.required(pathsAt)];
  return [
    ...errors,
    ...each(paths, pathsAt, validatePath, ({ backend = {} }, pathAt) =>
      validateBackend(backend, pathAt.child('backend')),
    ),
  ];
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
/** Path segments that proxies may normalize to another path. */
const forbiddenSegments = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenSuffixes = ['/..', '/.'];

function validatePath({ path: text = '', pathType }: HTTPIngressPath, ruleAt: FieldPath): FieldError[] {
  const typeAt = ruleAt.child('pathType');
  const refuse = (message: string) => fieldError.invalid(ruleAt.child('path'), text, message);
  const isAbsolute = text.startsWith('/') ? [] : [refuse('must be an absolute path')];
  if (pathType === undefined || pathType === null) return [fieldError.required(typeAt, 'pathType must be specified')];
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      return [
        ...isAbsolute,
        ...forbiddenSegments
          .filter((segment) => text.includes(segment))
          .map((segment) => refuse(`must not contain '${segment}'`)),
        ...forbiddenSuffixes
          .filter((suffix) => text.endsWith(suffix))
          .map((suffix) => refuse(`cannot end with '${suffix}'`)),
      ];
    case 'ImplementationSpecific':
      return text === '' ? [] : isAbsolute;
    default:
      return [fieldError.notSupported(typeAt, pathType, pathTypes)];
  }
}

function validateBackend({ resource, service }: IngressBackend, backendAt: FieldPath): FieldError[] {
  const refuse = (message: string) => [fieldError.invalid(backendAt, '', message)];
  if (resource && service) return refuse('cannot set both resource and service backends');
  if (resource) return validateTypedReference(resource, backendAt.child('resource'));
  if (service) return validateService(service, backendAt);
  return refuse('resource or service backend is required');
}

function validateService(
  { name: serviceName = '', port = {} }: IngressServiceBackend,
  backendAt: FieldPath,
): FieldError[] {
  const serviceAt = backendAt.child('service');
  const { name = '', number = 0 } = port;
  const errors = requiredName(serviceName, serviceAt.child('name'), validateDns1035Label);
  if (name !== '' && number !== 0) {
    return [...errors, fieldError.invalid(backendAt, '', 'cannot set both port name & port number')];
  }
  if (name !== '') return [...errors, ...checked(name, serviceAt.child('port', 'name'), validatePortName)];
  if (number === 0) return [...errors, ...required('', backendAt, 'port name or number is required')];
  const numberAt = serviceAt.child('port', 'number');
  return [...errors, ...validatePortNumber(number).map((message) => fieldError.invalid(numberAt, number, message))];
}

export function validateLoadBalancer({ ingress }: IngressLoadBalancerStatus, balancerAt: FieldPath): FieldError[] {
  return each(ingress, balancerAt.child('ingress'), ({ ip = '', hostname = '' }, pointAt) => {
    const hostnameAt = pointAt.child('hostname');
    return [
      ...(ip === '' ? [] : checked(ip, pointAt.child('ip'), validateIp)),
      ...(hostname === '' ? [] : checked(hostname, hostnameAt, validateDnsSubdomain)),
      ...(isIP(hostname) === 0
        ? []
        : [fieldError.invalid(hostnameAt, hostname, 'must be a DNS name, not an IP address')]),
    ];
  });
}
