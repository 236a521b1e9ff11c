import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asText, fillIn, isSet, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsLabel, nameIsDnsSubdomain, validateDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateTypedReference } from './typed-reference.validation.js';

const at = path('spec');

export const ingressClassStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(ingressClass) {
    const { parameters } = asFields(ingressClass['spec']);
    if (isSet(parameters)) fillIn(asFields(parameters), 'scope', 'Cluster');
  },
  validateCreate: validateIngressClass,
  validateUpdate: (ingressClass, old) => [
    ...immutable(
      asFields(ingressClass['spec'])['controller'],
      asFields(old['spec'])['controller'],
      at.child('controller'),
    ),
    ...validateIngressClass(ingressClass),
  ],
};

const controllerBytesMax = 250;

function validateIngressClass(ingressClass: KubeObject): FieldError[] {
  const spec = asFields(ingressClass['spec']);
  const controller = asText(spec['controller']);
  const controllerAt = at.child('controller');
  return [
    ...(Buffer.byteLength(controller) > controllerBytesMax
      ? [fieldError.tooLong(String(controllerAt), controllerBytesMax)]
      : []),
    ...validateDomainPrefixedPath(controller, controllerAt),
    ...(isSet(spec['parameters']) ? validateParameters(asFields(spec['parameters']), at.child('parameters')) : []),
  ];
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathRegex = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `example.com/name` */
function validateDomainPrefixedPath(text: string, textAt: FieldPath): FieldError[] {
  if (text === '') return required(text, textAt);
  const slash = text.indexOf('/');
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 1 || rest === '') {
    return [fieldError.invalid(String(textAt), text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const isPath = pathRegex.test(rest);
  return [
    ...checked(domain, textAt, validateDnsSubdomain),
    ...(isPath
      ? []
      : [fieldError.invalid(String(textAt), rest, `Invalid path (regex used for validation is '${pathPattern}')`)]),
  ];
}

function validateParameters(parameters: Fields, parametersAt: FieldPath): FieldError[] {
  const { scope, namespace } = parameters;
  const namespaceAt = parametersAt.child('namespace');
  const errors = validateTypedReference(parameters, parametersAt);
  if (scope === 'Namespace') {
    if (!isSet(namespace)) {
      errors.push(fieldError.required(String(namespaceAt), "`parameters.scope` is set to 'Namespace'"));
    } else errors.push(...checked(asText(namespace), namespaceAt, nameIsDnsLabel));
  } else if (scope === 'Cluster') {
    if (isSet(namespace)) {
      errors.push(fieldError.forbidden(String(namespaceAt), "`parameters.scope` is set to 'Cluster'"));
    }
  } else {
    errors.push(fieldError.notSupported(String(parametersAt.child('scope')), scope, ['Cluster', 'Namespace']));
  }
  return errors;
}
