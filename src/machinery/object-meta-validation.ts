import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { foregroundFinalizer, orphanFinalizer } from './finalizers.js';
import { parseApiVersion } from './gvk.js';
import type { JsonValue, ObjectMeta, OwnerReference } from './kube-object.js';
import {
  fieldManagerLengthMax,
  nameIsDnsLabel,
  validateFieldManager,
  validateLabelValue,
  validateQualifiedName,
  type NameValidator,
} from './names.js';

/** The rules for metadata that depend on the kind. Types were checked before. */
interface ObjectMetaRules {
  readonly validateName: NameValidator;
  /** False for custom kinds, whose finalizers need no domain. */
  readonly finalizersNeedDomain?: boolean;
}

const annotationsBytesMax = 256 * 1024;
const subresourceLengthMax = 256;

export function validateObjectMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  rules: ObjectMetaRules,
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName) {
    for (const problem of rules.validateName(meta.generateName, true)) {
      errors.push(fieldError.invalid(`${path}.generateName`, meta.generateName, problem));
    }
  }
  if (meta.name) {
    for (const problem of rules.validateName(meta.name))
      errors.push(fieldError.invalid(`${path}.name`, meta.name, problem));
  } else {
    errors.push(fieldError.required(`${path}.name`, 'name or generateName is required'));
  }
  errors.push(...validateNamespaceOf(meta, namespaced, path));
  if (meta.generation !== undefined && meta.generation < 0) {
    errors.push(fieldError.invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'));
  }
  errors.push(
    ...validateLabels(meta.labels, `${path}.labels`),
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    ...validateFinalizers(meta.finalizers, `${path}.finalizers`),
    ...validateManagedFields(meta.managedFields, `${path}.managedFields`),
  );
  if (rules.finalizersNeedDomain ?? true)
    errors.push(...validateFinalizerDomains(meta.finalizers, `${path}.finalizers`));
  return errors;
}

/**
 * Validates immutable metadata of an update. Absent fields count as unchanged, since the server fills them in.
 * creationTimestamp is not checked, since the old value replaces it.
 */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers);
    const added = [...new Set(meta.finalizers)].filter((finalizer) => !before.has(finalizer)).sort();
    if (added.length > 0) {
      const shown = added.map((finalizer) => `"${finalizer}"`).join(', ');
      errors.push(
        fieldError.forbidden(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      );
    }
  }
  if (meta.generation !== undefined && meta.generation < (old.generation ?? 0)) {
    errors.push(fieldError.invalid(`${path}.generation`, meta.generation, 'must not be decremented'));
  }
  const immutable = ['name', 'namespace', 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
  for (const field of immutable) {
    const value = meta[field] ?? undefined;
    if (value === undefined || value === '' || value === old[field]) continue;
    // The server keeps deletionTimestamp and deletionGracePeriodSeconds of an object that is being deleted.
    if (field.startsWith('deletion') && old.deletionTimestamp) continue;
    errors.push(fieldError.invalid(`${path}.${field}`, value, 'field is immutable'));
  }
  return errors;
}

/** The fields that metadata of an embedded template must not have, in the order of Go. */
const notInTemplates = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

interface Labelled {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Validates metadata of a template of a claim, which may have labels and annotations only. */
export function validateTemplateMetadata(
  meta: Labelled & { readonly [Field in (typeof notInTemplates)[number]]?: unknown },
  at: FieldPath,
): FieldError[] {
  return [
    ...validateAnnotations(meta.annotations, String(at.child('annotations'))),
    ...validateLabels(meta.labels, String(at.child('labels'))),
    ...notInTemplates
      .filter((field) => meta[field] !== undefined && meta[field] !== null)
      // Go makes the first letter of a field small, also that of UID.
      .map((field) => fieldError.forbidden(at.child(field === 'uid' ? 'uID' : field), 'cannot be set')),
  ];
}

function validateNamespaceOf(meta: ObjectMeta, namespaced: boolean, path: string): FieldError[] {
  const field = `${path}.namespace`;
  if (!namespaced) return meta.namespace ? [fieldError.forbidden(field, 'not allowed on this type')] : [];
  if (!meta.namespace) return [fieldError.required(field)];
  return nameIsDnsLabel(meta.namespace).map((problem) => fieldError.invalid(field, meta.namespace, problem));
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of sortedKeys(labels)) {
    const value = labels![key]!;
    for (const problem of validateQualifiedName(key)) errors.push(fieldError.invalid(path, key, problem));
    for (const problem of validateLabelValue(value)) errors.push(fieldError.invalid(path, value, problem));
  }
  return errors;
}

/** Keys are qualified names of any case; values are only limited in total size. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const key of sortedKeys(annotations)) {
    for (const problem of validateQualifiedName(key.toLowerCase())) errors.push(fieldError.invalid(path, key, problem));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations![key]!);
  }
  if (bytes > annotationsBytesMax) errors.push(fieldError.tooLong(path, annotationsBytesMax));
  return errors;
}

function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of owners ?? []) {
    errors.push(...validateOwnerReference(owner, path));
    if (owner.controller !== true) continue;
    const shown = `${owner.kind}/${owner.name}`;
    if (controller === '') controller = shown;
    else {
      const message = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${shown}`;
      errors.push(fieldError.invalid(path, owners, message));
    }
  }
  return errors;
}

function validateOwnerReference(owner: OwnerReference, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner as Partial<OwnerReference>;
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  if (version === '') errors.push(fieldError.invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  for (const [field, value] of Object.entries({ kind, name, uid })) {
    if (value === '') errors.push(fieldError.invalid(`${path}.${field}`, value, 'must not be empty'));
  }
  // Events are short-lived, so they cannot own objects.
  if (group === '' && version === 'v1' && kind === 'Event') {
    errors.push(fieldError.invalid(path, owner, `/${version}, Kind=${kind} is disallowed from being an owner`));
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers ?? []) {
    for (const problem of validateQualifiedName(finalizer)) errors.push(fieldError.invalid(path, finalizer, problem));
  }
  if (finalizers?.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    errors.push(fieldError.invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', orphanFinalizer, foregroundFinalizer]);

/** Also used for spec.finalizers of namespaces, whose errors have no index. */
export function validateFinalizerDomain(finalizer: string, path: string | FieldPath): FieldError[] {
  if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return [];
  return [fieldError.invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

function validateFinalizerDomains(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  return (finalizers ?? []).flatMap((finalizer, index) => validateFinalizerDomain(finalizer, `${path}[${index}]`));
}

function validateManagedFields(entries: readonly JsonValue[] | undefined, path: string): FieldError[] {
  return (entries ?? []).flatMap((entry, index) => {
    const errors: FieldError[] = [];
    const at = `${path}[${index}]`;
    const text = (name: string): string => {
      const value = typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? entry[name] : undefined;
      return typeof value === 'string' ? value : '';
    };
    const operation = text('operation');
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(fieldError.invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
    }
    const fieldsType = text('fieldsType');
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(fieldError.invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    const manager = text('manager');
    if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
      errors.push(fieldError.tooLong(`${at}.manager`, fieldManagerLengthMax));
    }
    for (const problem of validateFieldManager(manager)) {
      errors.push(fieldError.invalid(`${at}.manager`, manager, problem));
    }
    if (Buffer.byteLength(text('subresource')) > subresourceLengthMax) {
      errors.push(fieldError.tooLong(`${at}.subresource`, subresourceLengthMax));
    }
    return errors;
  });
}

function sortedKeys(map: Readonly<Record<string, string>> | undefined): string[] {
  return map === undefined || map === null ? [] : Object.keys(map).sort();
}
