import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, duplicates, each, requiredName } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  nameIsDnsSubdomain,
  validateDnsLabel,
  validateDnsSubdomain,
  validatePathSegment,
} from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';
import { validateGroupParts } from './pod-group-parts.validation.js';

const at = path('spec');
const templatesMax = 8;

export const workloadStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  validateCreate: validateWorkload,
  validateUpdate: (workload, old) => [
    ...validateWorkload(workload),
    ...['controllerRef', 'podGroupTemplates'].flatMap((field) =>
      immutable(asFields(workload['spec'])[field], asFields(old['spec'])[field], at.child(field)),
    ),
  ],
};

function validateWorkload(workload: KubeObject): FieldError[] {
  const { controllerRef, podGroupTemplates } = asFields(workload['spec']);
  const templates = asItems(podGroupTemplates);
  const templatesAt = at.child('podGroupTemplates');
  return [
    ...validateController(controllerRef),
    ...(templates.length === 0 ? [fieldError.required(String(templatesAt))] : []),
    ...(templates.length > templatesMax
      ? [fieldError.tooMany(String(templatesAt), templates.length, templatesMax)]
      : []),
    ...each(
      podGroupTemplates,
      templatesAt,
      (template, templateAt) => requiredName(asText(template['name']), templateAt.child('name'), validateDnsLabel),
      validateGroupParts,
    ),
    ...duplicates(
      templates,
      (template) => asText(template['name']),
      (index) => templatesAt.index(index),
    ),
  ];
}

function validateController(reference: unknown): FieldError[] {
  if (!isSet(reference)) return [];
  const { apiGroup, kind, name } = asFields(reference);
  const referenceAt = at.child('controllerRef');
  return [
    ...(asText(apiGroup) === '' ? [] : checked(asText(apiGroup), referenceAt.child('apiGroup'), validateDnsSubdomain)),
    ...requiredName(asText(kind), referenceAt.child('kind'), validatePathSegment),
    ...requiredName(asText(name), referenceAt.child('name'), validatePathSegment),
  ];
}
