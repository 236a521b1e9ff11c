import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { asFields, asText, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateIngressSpec, validateLoadBalancer } from './ingress.validation.js';

export function ingressStrategy(naming: NamingProfile): Strategy {
  const classAnnotation = naming.label('ingress.class');
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default: (ingress) => void makeFields(makeFields(ingress, 'status'), 'loadBalancer'),
    prepareForCreate(ingress) {
      ingress['status'] = { loadBalancer: {} };
    },
    prepareForUpdate(ingress, old) {
      ingress['status'] = old['status'];
    },
    validateCreate: (ingress) => [
      ...validateIngressSpec(asFields(ingress['spec'])),
      ...validateOneClass(ingress, classAnnotation),
    ],
    validateUpdate: (ingress) => validateIngressSpec(asFields(ingress['spec'])),
    warnings: ({ metadata: { annotations = {} } }, old) =>
      old === undefined && Object.hasOwn(annotations, classAnnotation)
        ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
        : [],
  };
}

/** The older way to name the class is an annotation: both together must say the same. */
function validateOneClass(ingress: KubeObject, annotation: string): FieldError[] {
  const annotated = ingress.metadata.annotations?.[annotation];
  const { ingressClassName } = asFields(ingress['spec']);
  if (annotated === undefined || !isSet(ingressClassName) || annotated === asText(ingressClassName)) return [];
  const message = 'must match `ingressClassName` when both are specified';
  return [fieldError.invalid(`annotations.${annotation}`, annotated, message)];
}

export const ingressStatusSubresource = statusSubresource({
  validate: (ingress) =>
    validateLoadBalancer(asFields(ingress['status'])['loadBalancer'], path('status').child('loadBalancer')),
});
