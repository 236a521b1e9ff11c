import { path, type FieldError } from '../../machinery/field-error.js';
import { asFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';
import { defaultPodTemplate, podTemplateWarnings, validatePodTemplate } from './pod/pod-template.js';

const validate = (object: KubeObject): FieldError[] =>
  validatePodTemplate(asFields(object['template']), path('template'));

export const podTemplateStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPodTemplate,
  validateCreate: validate,
  validateUpdate: validate,
  warnings: (object) => podTemplateWarnings(object['template'], 'template'),
};
