import type { PodTemplate } from '../../catalog/types/core.v1.js';
import { path, type FieldError } from '../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultPodTemplate, validatePodTemplate } from './pod/pod-template.js';
import { podSpecWarnings } from './pod/pod.warnings.js';

const validate = ({ template = {} }: PodTemplate): FieldError[] => validatePodTemplate(template, path('template'));

export const podTemplateStrategy: Strategy<PodTemplate> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultPodTemplate,
  validateCreate: validate,
  validateUpdate: validate,
  warnings: ({ metadata, template }, old) =>
    old && old.metadata.generation === metadata.generation
      ? []
      : podSpecWarnings(template?.spec ?? {}, 'template.spec'),
};
