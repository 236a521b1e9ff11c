import type { ResourceClaimTemplate, ResourceClaimTemplateSpec } from '../../catalog/types/resource.v1.js';
import { path, type FieldError } from '../../machinery/field-error.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateTemplateMetadata } from '../../machinery/object-meta-validation.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import type { Steps } from '../../std/steps.js';
import { shownClaimSpec } from './claim-spec.go-value.js';
import { validateClaimSpec } from './claim-spec.validation.js';
import { defaultClaimSpec } from './device-request.defaults.js';

const at = path('spec');

/** A template for ResourceClaims; its spec is immutable. */
export const resourceClaimTemplateStrategy: Strategy<ResourceClaimTemplate> = {
  validateName: nameIsDnsSubdomain,
  default: ({ spec }) => defaultClaimSpec(spec?.spec ?? {}),
  *validateInSteps(template, old) {
    return old
      ? immutable(template.spec, old.spec, at, shownTemplate(template.spec))
      : yield* validateTemplate(template);
  },
};

function* validateTemplate({ spec = {} }: ResourceClaimTemplate): Steps<FieldError[]> {
  return [
    ...validateTemplateMetadata(spec.metadata ?? {}, at.child('metadata')),
    ...(yield* validateClaimSpec(spec.spec ?? {}, at.child('spec'))),
  ];
}

const shownTemplate = (spec: ResourceClaimTemplateSpec | undefined): unknown => ({
  ...spec?.metadata,
  ...goStruct(spec, [['spec', shownClaimSpec({}), shownClaimSpec]]),
});
