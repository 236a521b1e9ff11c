import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReview,
} from '../../catalog/types/authorization.v1.js';
import type { FieldSelectorRequirement, LabelSelectorRequirement } from '../../catalog/types/meta.v1.js';
import { counted, uncountedErrors } from '../../machinery/error-budget.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateLabelRequirement } from '../core/selector.validation.js';

/** Requires one kind of attributes, and a user or groups unless the review is about the requesting user. */
export function validateAccessReview(
  { spec = {} }: SubjectAccessReview,
  { isSelfReview }: { isSelfReview: boolean },
): FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: nonResource, user = '', groups = [] } = spec;
  const at = path('spec');
  const errors: FieldError[] = [];
  if (resource && nonResource) {
    const message = 'cannot be specified in combination with resourceAttributes';
    errors.push(fieldError.invalid(at.child('nonResourceAttributes'), shownPath(nonResource), message));
  }
  if (!resource && !nonResource) {
    const message = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(fieldError.invalid(at.child('resourceAttributes'), null, message));
  }
  if (!isSelfReview && user === '' && groups.length === 0) {
    const message = 'at least one of user or group must be specified';
    errors.push(fieldError.invalid(at.child('user'), '', message));
  }
  return [...errors, ...validateSelectors(resource ?? {}, at.child('resourceAttributes'))];
}

/** Refuses metadata, since a review is not stored. */
export function validateBareMetadata(review: KubeObject): FieldError[] {
  const { managedFields: _fields, ...metadata } = review.metadata;
  if (Object.keys(metadata).length === 0) return [];
  return [fieldError.invalid('metadata', metadata, 'must be empty')];
}

/** Requires the attributes to be in the namespace of the review. */
export function validateLocalReview(review: SubjectAccessReview): FieldError[] {
  const { namespace = '', managedFields: _fields, ...metadata } = review.metadata;
  const { resourceAttributes: resource, nonResourceAttributes: nonResource } = review.spec ?? {};
  const errors = validateAccessReview(review, { isSelfReview: false });
  if (Object.keys(metadata).length > 0) {
    errors.push(fieldError.invalid('metadata', review.metadata, 'must be empty except for namespace'));
  }
  const reviewed = resource?.namespace ?? '';
  if (resource && reviewed !== namespace) {
    errors.push(fieldError.invalid('spec.resourceAttributes.namespace', reviewed, 'must match metadata.namespace'));
  }
  if (nonResource) {
    const message = 'disallowed on this kind of request';
    errors.push(fieldError.invalid('spec.nonResourceAttributes', shownPath(nonResource), message));
  }
  return errors;
}

/** Returns the attributes with the names of the Go fields, for error messages. */
function shownPath({ path: urlPath = '', verb = '' }: NonResourceAttributes): object {
  return { Path: urlPath, Verb: verb };
}

function validateSelectors(resource: ResourceAttributes, at: FieldPath): FieldError[] {
  return [
    ...validateSelector(resource.fieldSelector, at.child('fieldSelector'), validateFieldRequirement),
    ...validateSelector(resource.labelSelector, at.child('labelSelector'), validateKnownLabelRequirement),
  ];
}

interface SelectorAttributes<Requirement> {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly Requirement[] | undefined;
}

function validateSelector<Requirement extends object>(
  selector: SelectorAttributes<Requirement> | undefined,
  at: FieldPath,
  validateRequirement: (requirement: Requirement, at: FieldPath) => FieldError[],
): FieldError[] {
  if (!selector) return [];
  const { rawSelector: raw = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  const count = requirements.length;
  if (raw !== '' && count > 0) {
    const message = 'may not specified at the same time as requirements';
    errors.push(fieldError.invalid(at.child('rawSelector'), raw, message));
  }
  if (raw === '' && count === 0) {
    const message = `when ${String(at)} is specified, requirements or rawSelector is required`;
    errors.push(fieldError.required(at.child('requirements'), message));
  }
  return [...errors, ...each(requirements, at.child('requirements'), validateRequirement)];
}

function validateFieldRequirement(requirement: FieldSelectorRequirement, at: FieldPath): FieldError[] {
  const errors = required(requirement.key, at.child('key'), 'must be specified');
  const values = (requirement.values ?? []).length;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      if (values > 0) return errors;
      return [
        ...errors,
        ...required(undefined, at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"),
      ];
    case 'Exists':
    case 'DoesNotExist': {
      if (values === 0) return errors;
      const message = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return [...errors, fieldError.forbidden(at.child('values'), message)];
    }
    default:
      return errors;
  }
}

/** Accepts unknown operators: those of later versions narrow a request, never widen it. */
function validateKnownLabelRequirement(requirement: LabelSelectorRequirement, at: FieldPath): FieldError[] {
  const operator = String(at.child('operator'));
  const errors = uncountedErrors(() => validateLabelRequirement(requirement, at));
  return errors.filter(({ field }) => field !== operator).map(counted);
}
