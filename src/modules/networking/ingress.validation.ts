import { isIP } from 'node:net';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, required, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
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

export function validateIngressSpec(spec: Fields): FieldError[] {
  const { defaultBackend, rules, ingressClassName } = spec;
  const errors: FieldError[] = [];
  if (asItems(rules).length === 0 && !isSet(defaultBackend)) {
    const message = 'either `defaultBackend` or `rules` must be specified';
    errors.push(fieldError.invalid(String(at), rules ?? null, message));
  }
  if (isSet(defaultBackend)) errors.push(...validateBackend(asFields(defaultBackend), at.child('defaultBackend')));
  errors.push(...each(rules, at.child('rules'), validateRule), ...each(spec['tls'], at.child('tls'), validateTls));
  if (isSet(ingressClassName)) {
    errors.push(...checked(asText(ingressClassName), at.child('ingressClassName'), nameIsDnsSubdomain));
  }
  return errors;
}

function validateTls(tls: Fields, tlsAt: FieldPath): FieldError[] {
  const secret = asText(tls['secretName']);
  return [
    ...asTexts(tls['hosts']).flatMap((host, index) => validateHost(host, tlsAt.child('hosts').index(index))),
    ...(secret === '' ? [] : checked(secret, tlsAt.child('secretName'), nameIsDnsSubdomain)),
  ];
}

const validateHost = (host: string, hostAt: FieldPath): FieldError[] =>
  checked(host, hostAt, host.includes('*') ? validateWildcardDnsSubdomain : validateDnsSubdomain);

function validateRule(rule: Fields, ruleAt: FieldPath): FieldError[] {
  const host = asText(rule['host']);
  const hostAt = ruleAt.child('host');
  const errors: FieldError[] = [];
  if (isIP(host) !== 0) {
    errors.push(fieldError.invalid(String(hostAt), host, 'must be a DNS name, not an IP address'));
  }
  if (host !== '') errors.push(...validateHost(host, hostAt));
  if (!isSet(rule['http'])) return errors;
  const { paths } = asFields(rule['http']);
  const pathsAt = ruleAt.child('http', 'paths');
  if (asItems(paths).length === 0) return [...errors, fieldError.required(String(pathsAt))];
  return [...errors, ...each(paths, pathsAt, validatePath, validatePathBackend)];
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
/** What would mean another path to whoever cleans it up. */
const forbiddenParts = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenEnds = ['/..', '/.'];

function validatePath(rule: Fields, ruleAt: FieldPath): FieldError[] {
  const { pathType } = rule;
  const text = asText(rule['path']);
  const typeAt = String(ruleAt.child('pathType'));
  const refuse = (message: string) => fieldError.invalid(String(ruleAt.child('path')), text, message);
  const isAbsolute = text.startsWith('/') ? [] : [refuse('must be an absolute path')];
  if (!isSet(pathType)) return [fieldError.required(typeAt, 'pathType must be specified')];
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      return [
        ...isAbsolute,
        ...forbiddenParts.filter((part) => text.includes(part)).map((part) => refuse(`must not contain '${part}'`)),
        ...forbiddenEnds.filter((end) => text.endsWith(end)).map((end) => refuse(`cannot end with '${end}'`)),
      ];
    case 'ImplementationSpecific':
      return text === '' ? [] : isAbsolute;
    default:
      return [fieldError.notSupported(typeAt, pathType, pathTypes)];
  }
}

const validatePathBackend = (rule: Fields, ruleAt: FieldPath): FieldError[] =>
  validateBackend(asFields(rule['backend']), ruleAt.child('backend'));

function validateBackend(backend: Fields, backendAt: FieldPath): FieldError[] {
  const { resource, service } = backend;
  const refuse = (message: string) => [fieldError.invalid(String(backendAt), '', message)];
  if (isSet(resource) && isSet(service)) return refuse('cannot set both resource and service backends');
  if (isSet(resource)) return validateTypedReference(asFields(resource), backendAt.child('resource'));
  if (isSet(service)) return validateService(asFields(service), backendAt);
  return refuse('resource or service backend is required');
}

function validateService(service: Fields, backendAt: FieldPath): FieldError[] {
  const serviceAt = backendAt.child('service');
  const port = asFields(service['port']);
  const name = asText(port['name']);
  const number = asNumber(port['number']);
  const errors = requiredName(asText(service['name']), serviceAt.child('name'), validateDns1035Label);
  if (name !== '' && number !== 0) {
    return [...errors, fieldError.invalid(String(backendAt), '', 'cannot set both port name & port number')];
  }
  if (name !== '') return [...errors, ...checked(name, serviceAt.child('port', 'name'), validatePortName)];
  if (number === 0) return [...errors, ...required('', backendAt, 'port name or number is required')];
  const numberAt = String(serviceAt.child('port', 'number'));
  return [...errors, ...validatePortNumber(number).map((message) => fieldError.invalid(numberAt, number, message))];
}

export function validateLoadBalancer(loadBalancer: unknown, balancerAt: FieldPath): FieldError[] {
  return each(asFields(loadBalancer)['ingress'], balancerAt.child('ingress'), (point, pointAt) => {
    const ip = asText(point['ip']);
    const hostname = asText(point['hostname']);
    const hostnameAt = pointAt.child('hostname');
    return [
      ...(ip === '' ? [] : checked(ip, pointAt.child('ip'), validateIp)),
      ...(hostname === '' ? [] : checked(hostname, hostnameAt, validateDnsSubdomain)),
      ...(isIP(hostname) === 0
        ? []
        : [fieldError.invalid(String(hostnameAt), hostname, 'must be a DNS name, not an IP address')]),
    ];
  });
}
