import type { TypedLocalObjectReference, Workload } from '../../catalog/types/scheduling.v1alpha2.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, duplicates, each, requiredName } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import {
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validatePathSegment,
} from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateGroupParts } from './pod-group-parts.validation.js';

const at = path('spec');
const templatesMax = 8;

export const workloadStrategy: Strategy<Workload> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  validateCreate: validateWorkload,
  validateUpdate: (workload, old) => [
    ...validateWorkload(workload),
    ...immutable(workload.spec?.controllerRef, old.spec?.controllerRef, at.child('controllerRef')),
    ...immutable(workload.spec?.podGroupTemplates, old.spec?.podGroupTemplates, at.child('podGroupTemplates')),
  ],
};

function validateWorkload({ spec = {} }: Workload): FieldError[] {
  const { controllerRef } = spec;
  const templates = spec.podGroupTemplates ?? [];
  const templatesAt = at.child('podGroupTemplates');
  return [
    ...(controllerRef ? validateController(controllerRef) : []),
    ...(templates.length === 0 ? [fieldError.required(templatesAt)] : []),
    ...(templates.length > templatesMax ? [fieldError.tooMany(templatesAt, templates.length, templatesMax)] : []),
    ...each(
      templates,
      templatesAt,
      ({ name = '' }, templateAt) => requiredName(name, templateAt.child('name'), validateDnsLabel),
      validateGroupParts,
    ),
    ...duplicates(
      templates,
      ({ name = '' }) => name,
      (index) => templatesAt.index(index),
    ),
  ];
}

function validateController({ apiGroup = '', kind = '', name = '' }: TypedLocalObjectReference): FieldError[] {
  const referenceAt = at.child('controllerRef');
  return [
    ...(apiGroup === '' ? [] : checked(apiGroup, referenceAt.child('apiGroup'), validateDnsSubdomain)),
    ...requiredName(kind, referenceAt.child('kind'), validatePathSegment),
    ...requiredName(name, referenceAt.child('name'), validatePathSegment),
  ];
}
