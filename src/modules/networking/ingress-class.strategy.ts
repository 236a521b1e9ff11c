import type { IngressClass, IngressClassParametersReference } from '../../catalog/types/networking.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, validateDomainPrefixedPath } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateTypedReference } from './typed-reference.validation.js';

const at = path('spec');

export const ingressClassStrategy: Strategy<IngressClass> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default({ spec }) {
    if (spec?.parameters) spec.parameters.scope ??= 'Cluster';
  },
  validateCreate: validateIngressClass,
  validateUpdate: (ingressClass, old) => [
    ...immutable(ingressClass.spec?.controller, old.spec?.controller, at.child('controller')),
    ...validateIngressClass(ingressClass),
  ],
};

const controllerBytesMax = 250;

function validateIngressClass({ spec = {} }: IngressClass): FieldError[] {
  const { controller = '', parameters } = spec;
  const controllerAt = at.child('controller');
  return [
    ...(Buffer.byteLength(controller) > controllerBytesMax
      ? [fieldError.tooLong(controllerAt, controllerBytesMax)]
      : []),
    ...validateDomainPrefixedPath(controller, controllerAt),
    ...(parameters ? validateParameters(parameters, at.child('parameters')) : []),
  ];
}

function validateParameters(parameters: IngressClassParametersReference, parametersAt: FieldPath): FieldError[] {
  const { scope, namespace } = parameters;
  const namespaceAt = parametersAt.child('namespace');
  const errors = validateTypedReference(parameters, parametersAt);
  if (scope === 'Namespace') {
    if (namespace === undefined) {
      errors.push(fieldError.required(namespaceAt, "`parameters.scope` is set to 'Namespace'"));
    } else errors.push(...checked(namespace, namespaceAt, nameIsDnsLabel));
  } else if (scope === 'Cluster') {
    if (namespace !== undefined) {
      errors.push(fieldError.forbidden(namespaceAt, "`parameters.scope` is set to 'Cluster'"));
    }
  } else {
    errors.push(fieldError.notSupported(parametersAt.child('scope'), scope, ['Cluster', 'Namespace']));
  }
  return errors;
}
