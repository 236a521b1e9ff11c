import { counted, uncountedErrors } from '../../machinery/error-budget.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { each, required } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateLabelRequirement } from '../core/selector.validation.js';

/** What every review of access must say: about one thing, and about whom unless it is about the asker. */
export function validateAccessReview(review: KubeObject, { isAboutAsker }: { isAboutAsker: boolean }): FieldError[] {
  const spec = asFields(review['spec']);
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  const at = path('spec');
  const errors: FieldError[] = [];
  if (isSet(resource) && isSet(other)) {
    const message = 'cannot be specified in combination with resourceAttributes';
    errors.push(fieldError.invalid(at.child('nonResourceAttributes'), shownPath(other), message));
  }
  if (!isSet(resource) && !isSet(other)) {
    const message = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(fieldError.invalid(at.child('resourceAttributes'), null, message));
  }
  if (!isAboutAsker && asText(spec['user']) === '' && asTexts(spec['groups']).length === 0) {
    const message = 'at least one of user or group must be specified';
    errors.push(fieldError.invalid(at.child('user'), '', message));
  }
  return [...errors, ...validateSelectors(asFields(resource), at.child('resourceAttributes'))];
}

/** A review is an answer, not an object: it has no name. */
export function validateBareMetadata(review: KubeObject): FieldError[] {
  const { managedFields: _fields, ...metadata } = review.metadata;
  if (Object.keys(metadata).length === 0) return [];
  return [fieldError.invalid('metadata', metadata, 'must be empty')];
}

/** In a namespace one may only ask about that namespace. */
export function validateLocalReview(review: KubeObject): FieldError[] {
  const { namespace = '', managedFields: _fields, ...metadata } = review.metadata;
  const { resourceAttributes: resource, nonResourceAttributes: other } = asFields(review['spec']);
  const errors = validateAccessReview(review, { isAboutAsker: false });
  if (Object.keys(metadata).length > 0) {
    errors.push(fieldError.invalid('metadata', review.metadata, 'must be empty except for namespace'));
  }
  const asked = asText(asFields(resource)['namespace']);
  if (isSet(resource) && asked !== namespace) {
    errors.push(fieldError.invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  if (isSet(other)) {
    const message = 'disallowed on this kind of request';
    errors.push(fieldError.invalid('spec.nonResourceAttributes', shownPath(other), message));
  }
  return errors;
}

function shownPath(attributes: unknown): object {
  const { path: where, verb } = asFields(attributes);
  return { Path: asText(where), Verb: asText(verb) };
}

function validateSelectors(resource: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateSelector(resource['fieldSelector'], at.child('fieldSelector'), validateFieldRequirement),
    ...validateSelector(resource['labelSelector'], at.child('labelSelector'), knownLabelRequirement),
  ];
}

function validateSelector(
  selector: unknown,
  at: FieldPath,
  validateRequirement: (requirement: Fields, at: FieldPath) => FieldError[],
): FieldError[] {
  if (!isSet(selector)) return [];
  const { rawSelector, requirements } = asFields(selector);
  const errors: FieldError[] = [];
  const raw = asText(rawSelector);
  const count = asItems(requirements).length;
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

function validateFieldRequirement(requirement: Fields, at: FieldPath): FieldError[] {
  const errors = required(requirement['key'], at.child('key'), 'must be specified');
  const values = asTexts(requirement['values']).length;
  switch (requirement['operator']) {
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

/** Operators that this version does not know are let through: those of later clients narrow a request, never widen it. */
function knownLabelRequirement(requirement: Fields, at: FieldPath): FieldError[] {
  const operator = String(at.child('operator'));
  const errors = uncountedErrors(() => validateLabelRequirement(requirement, at));
  return errors.filter(({ field }) => field !== operator).map(counted);
}
