import { path, type FieldError } from '../../machinery/field-error.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultPodTemplate, validatePodTemplate } from './pod/pod-template.js';
import { podSpecWarnings } from './pod/pod.warnings.js';

const validate = (object: KubeObject): FieldError[] =>
  validatePodTemplate(asFields(object['template']), path('template'));

export const podTemplateStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPodTemplate,
  validateCreate: validate,
  validateUpdate: validate,
  warnings: (object, old) =>
    old && old.metadata.generation === object.metadata.generation
      ? []
      : podSpecWarnings(asFields(asFields(object['template'])['spec']), 'template.spec'),
};
