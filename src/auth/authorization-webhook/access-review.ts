import { decodeJson, encodeJson } from '../../codec/json.js';
import { CheckedFields } from '../../kubeconfig-client/checked-fields.js';
import type { InjectedDecision } from '../../kubeconfig-client/injected-call.js';
import type { FieldSelector } from '../../machinery/field-selector.js';
import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';
import type { LabelOperator, LabelSelector } from '../../machinery/label-selector.js';
import type { AuthorizationAttributes } from '../authorizer.js';
import { WebhookError } from '../webhook/webhook-error.js';
import type { Selectors } from './review-key.js';

/** The spec of a SubjectAccessReview of v1, with empty texts. Expressions see it as it is. */
export interface AccessReviewSpec {
  readonly resourceAttributes?: ReviewedResource;
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
  readonly user: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  readonly uid: string;
}

interface ReviewedResource {
  readonly namespace: string;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly fieldSelector?: { readonly requirements: readonly SelectorRequirement[] };
  readonly labelSelector?: { readonly requirements: readonly SelectorRequirement[] };
}

interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export function accessReviewSpec(attributes: AuthorizationAttributes, selectors: Selectors): AccessReviewSpec {
  const { user, verb, path } = attributes;
  const { name, groups, uid, extra } = user;
  const subject = { user: name, groups, extra, uid };
  if (!attributes.isResourceRequest) return { nonResourceAttributes: { path, verb }, ...subject };
  const { namespace, group, version, resource, subresource } = attributes;
  const fields = fieldRequirements(selectors.fieldSelector);
  const labels = labelRequirements(selectors.labelSelector);
  return {
    resourceAttributes: {
      ...{ namespace, verb, group, version, resource, subresource, name: attributes.name },
      ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
      ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
    },
    ...subject,
  };
}

function fieldRequirements(selector: FieldSelector | undefined): SelectorRequirement[] {
  if (!selector) return [];
  return selector.requirements.map(({ field: key, operator, value }) => ({
    key,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

/** Requirements with another operator are left out: the review is then about more objects. */
const operators: Partial<Record<LabelOperator, string>> = {
  ...{ '=': 'In', '==': 'In', in: 'In', '!=': 'NotIn', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist' },
};

function labelRequirements(selector: LabelSelector | undefined): SelectorRequirement[] {
  if (!selector) return [];
  return selector.requirements.flatMap(({ key, operator: written, values }) => {
    const operator = operators[written];
    return operator === undefined ? [] : [{ key, operator, ...(values.length > 0 && { values }) }];
  });
}

/** `apiVersion` is that of the group authorization.k8s.io. Empty texts, lists and maps are left out, as in Go. */
export function encodeAccessReview(apiVersion: string, spec: AccessReviewSpec): Buffer {
  const { user, groups, extra, uid, ...attributes } = spec;
  return encodeJson({
    kind: 'SubjectAccessReview',
    apiVersion,
    metadata: {},
    spec: {
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, withoutEmptyTexts(value)])),
      ...(user !== '' && { user }),
      ...(groups.length > 0 && { [apiVersion.endsWith('/v1beta1') ? 'group' : 'groups']: groups }),
      ...(Object.keys(extra).length > 0 && { extra }),
      ...(uid !== '' && { uid }),
    },
    status: { allowed: false },
  });
}

const withoutEmptyTexts = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

/** The status of a SubjectAccessReview. */
export interface AccessReviewStatus {
  readonly isAllowed: boolean;
  readonly isDenied: boolean;
  readonly reason: string;
}

/** Returns the answer of a webhook that denies a request. */
export function deniedReview(apiVersion: string, { message }: InjectedDecision): object {
  return { kind: 'SubjectAccessReview', apiVersion, status: { allowed: false, denied: true, reason: message } };
}

/**
 * Decodes the answer of a webhook. As in kube-apiserver, kind and apiVersion may be absent and must be right otherwise,
 * and evaluationError changes nothing. The status is required: an answer that has none is of something else.
 */
export function decodeAccessReview(bytes: Buffer, apiVersion: string): AccessReviewStatus {
  const review = CheckedFields.of(decoded(bytes), '', failure);
  if ((review.text('kind') ?? 'SubjectAccessReview') !== 'SubjectAccessReview') {
    throw review.wrong('kind', 'must be SubjectAccessReview');
  }
  if ((review.text('apiVersion') ?? apiVersion) !== apiVersion) {
    throw review.wrong('apiVersion', `must be ${apiVersion}, that of the request`);
  }
  const status = review.object('status');
  if (!status) throw review.wrong('status', 'is required');
  status.text('evaluationError');
  return {
    isAllowed: status.flag('allowed'),
    isDenied: status.flag('denied'),
    reason: status.text('reason') ?? '',
  };
}

function failure(problem: string): WebhookError {
  return new WebhookError(`its answer is not a SubjectAccessReview: ${problem}`);
}

/** Errors have no cause and no text of the decoder, which may repeat the answer. */
function decoded(bytes: Buffer): JsonValue | JsonObject {
  try {
    return decodeJson(bytes);
  } catch {
    throw failure('it is not JSON');
  }
}
