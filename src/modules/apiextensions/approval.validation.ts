import type { NamingProfile } from '../../config/naming-profile.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

/** Groups under the server's own domains belong to its authors: who defines one says where it was agreed. */
export function validateApproval(
  definition: KubeObject,
  old: KubeObject | undefined,
  naming: NamingProfile,
): FieldError[] {
  const group = asText(asFields(definition['spec'])['group']);
  const domains = [naming.apiDomain, naming.labelDomain];
  if (!domains.some((domain) => group === domain || group.endsWith(`.${domain}`))) return [];
  const annotation = `api-approved.${naming.labelDomain}`;
  const of = (object: KubeObject) => object.metadata.annotations?.[annotation] ?? '';
  const state = approvalOf(of(definition));
  if (old && approvalOf(of(old)) === state) return [];
  const at = String(path('metadata').child('annotations').key(annotation));
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  const must = `protected groups must have approval annotation "${annotation}"`;
  if (state === 'missing') return [fieldError.required(at, `${must}, ${see}`)];
  if (state !== 'invalid') return [];
  const message = `${must} with either a URL or a reason starting with "unapproved", ${see}`;
  return [fieldError.invalid(at, of(definition), message)];
}

function approvalOf(annotation: string): Approval {
  if (annotation === '') return 'missing';
  if (annotation.startsWith('unapproved')) return 'bypassed';
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#\s]+/.test(annotation) ? 'approved' : 'invalid';
}
