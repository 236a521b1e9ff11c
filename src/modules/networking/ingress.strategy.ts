import type { Ingress } from '../../catalog/types/networking.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateIngressSpec, validateLoadBalancer } from './ingress.validation.js';

export function ingressStrategy(naming: NamingProfile): Strategy<Ingress> {
  const classAnnotation = naming.label('ingress.class');
  return {
    validateName: nameIsDnsSubdomain,
    countsGenerations: true,
    default(ingress) {
      const status = (ingress.status ??= {});
      status.loadBalancer ??= {};
    },
    initialStatus: () => ({ loadBalancer: {} }),
    validateCreate: (ingress) => [
      ...validateIngressSpec(ingress.spec ?? {}),
      ...validateOneClass(ingress, classAnnotation),
    ],
    validateUpdate: ({ spec = {} }) => validateIngressSpec(spec),
    warnings: ({ metadata: { annotations = {} } }, old) =>
      old === undefined && Object.hasOwn(annotations, classAnnotation)
        ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
        : [],
  };
}

/** Requires ingressClassName and the older class annotation to be equal if both are set. */
function validateOneClass({ metadata, spec }: Ingress, annotation: string): FieldError[] {
  const annotated = metadata.annotations?.[annotation];
  const name = spec?.ingressClassName;
  if (annotated === undefined || name === undefined || annotated === name) return [];
  const message = 'must match `ingressClassName` when both are specified';
  return [fieldError.invalid(`annotations.${annotation}`, annotated, message)];
}

export const ingressStatusSubresource = statusSubresource<Ingress>({
  validate: ({ status }) => validateLoadBalancer(status?.loadBalancer ?? {}, path('status').child('loadBalancer')),
});
