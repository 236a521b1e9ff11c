import { path } from '../../machinery/field-error.js';
import { asFields } from '../../machinery/fields.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject, ObjectMeta } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateAnnotations, validateLabels } from '../../machinery/object-meta-validation.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { shownClaimSpec } from './claim-spec.go-value.js';
import { validateClaimSpec } from './claim-spec.validation.js';
import { defaultClaimSpec } from './device-request.defaults.js';

const at = path('spec');

/** Claims are made from it as it is: it does not change. */
export const resourceClaimTemplateStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: (template) => defaultClaimSpec(asFields(asFields(template['spec'])['spec'])),
  validateCreate: validateTemplate,
  validateUpdate: (template, old) => [
    ...immutable(template['spec'], old['spec'], at, shownTemplate(template['spec'])),
    ...validateTemplate(template),
  ],
};

function validateTemplate(template: KubeObject) {
  const spec = asFields(template['spec']);
  const { labels, annotations } = asFields(spec['metadata']) as ObjectMeta;
  const metadataAt = at.child('metadata');
  return [
    ...validateLabels(labels, String(metadataAt.child('labels'))),
    ...validateAnnotations(annotations, String(metadataAt.child('annotations'))),
    ...validateClaimSpec(asFields(spec['spec']), at.child('spec')),
  ];
}

const shownTemplate = (spec: unknown): unknown => ({
  ...asFields(asFields(spec)['metadata']),
  ...goStruct(spec, [['spec', shownClaimSpec({}), shownClaimSpec]]),
});
