import type { CustomResourceDefinition } from '../catalog/types/apiextensions.v1.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { fieldError, goQuote, path, type FieldError } from '../machinery/field-error.js';
import type { Finding } from './definition-conditions.js';

interface Approval {
  readonly state: 'Missing' | 'Unapproved' | 'Approved' | 'Invalid';
  readonly message: string;
}

/**
 * Groups under `k8s.io` and `kubernetes.io` are reserved: a definition in one needs the approval annotation, with a URL
 * or the reason why it is unapproved.
 */
export function validateApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  naming: NamingProfile,
): FieldError[] {
  const approval = approvalOf(definition, naming);
  if (!approval || (old && approvalOf(old, naming)?.state === approval.state)) return [];
  const { state, message } = approval;
  const annotation = annotationOf(naming);
  const at = path('metadata').child('annotations').key(annotation);
  if (state === 'Missing') return [fieldError.required(at, message)];
  if (state !== 'Invalid') return [];
  return [fieldError.invalid(at, definition.metadata.annotations?.[annotation] ?? '', message)];
}

/** The KubernetesAPIApprovalPolicyConformant condition; undefined for groups outside of the reserved domains. */
export function approvalFinding(definition: CustomResourceDefinition, naming: NamingProfile): Finding | undefined {
  const approval = approvalOf(definition, naming);
  return (
    approval && {
      type: 'KubernetesAPIApprovalPolicyConformant',
      status: approval.state === 'Approved' ? 'True' : 'False',
      reason: `${approval.state}Annotation`,
      message: approval.message,
    }
  );
}

const annotationOf = (naming: NamingProfile) => `api-approved.${naming.labelDomain}`;

function approvalOf(definition: CustomResourceDefinition, naming: NamingProfile): Approval | undefined {
  const group = definition.spec?.group ?? '';
  const domains = [naming.apiDomain, naming.labelDomain];
  if (!domains.some((domain) => group === domain || group.endsWith(`.${domain}`))) return undefined;
  const annotation = annotationOf(naming);
  const value = definition.metadata.annotations?.[annotation] ?? '';
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const must = `protected groups must have approval annotation "${annotation}"`;
  if (value === '') return { state: 'Missing', message: `${must}, ${see}` };
  if (value.startsWith('unapproved')) return { state: 'Unapproved', message: `not approved: ${goQuote(value)}` };
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+/.test(value)) {
    return { state: 'Approved', message: `approved in ${value}` };
  }
  return {
    state: 'Invalid',
    message: `${must} with either a URL or a reason starting with "unapproved", ${see}`,
  };
}
