import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceValidation,
} from '../../catalog/types/apiextensions.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { goStruct } from '../../machinery/go-value.js';
import { immutable } from '../../machinery/immutable.js';
import type { Steps } from '../../std/steps.js';
import { validateDns1035Label, validateDnsSubdomain } from '../../machinery/names.js';
import { validateApproval } from '../../custom-kinds/approval.validation.js';
import { validateColumn } from './column.validation.js';
import {
  conversionLeniencyOf,
  firstConversion,
  validateConversion,
  type ConversionLeniency,
} from '../../custom-kinds/conversion.validation.js';
import { isEstablished } from '../../custom-kinds/definition-conditions.js';
import { schemaOf, schemasOf, statusIsApart, viewOf, type DefinitionView } from '../../custom-kinds/definition-view.js';
import { validateNames } from './names.validation.js';
import { leniencyOf, strict, type SchemaLeniency } from '../../structural-schema/leniency.js';
import { hasCostlyPatterns } from '../../structural-schema/costly-patterns.js';
import { validateSchema } from '../../structural-schema/schema.validation.js';
import { validateSelectableFields } from './selectable-field.validation.js';
import { validateSubresources } from './subresource.validation.js';

/** A generator: a schema may have thousands of levels, and several rules visit each of them. */
export function* validateDefinition(definition: CustomResourceDefinition, naming: NamingProfile): Steps<FieldError[]> {
  const leniency: Leniency = { schema: strict, conversion: firstConversion };
  return [
    ...validateName(definition),
    ...(yield* validateSpec(definition.spec ?? {}, path('spec'), leniency)),
    ...validateStatusNames(definition),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, undefined, naming),
    ...validatePreserved(definition, undefined),
  ];
}

export function* validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  naming: NamingProfile,
): Steps<FieldError[]> {
  const { spec = {} } = definition;
  const { spec: before = {} } = old;
  const { names = {} } = spec;
  const { names: oldNames = {} } = before;
  const at = path('spec');
  // Schemas may be large, and most updates change metadata only: an unchanged spec has been validated before.
  const specErrors = deepEqual(spec, before)
    ? []
    : yield* validateSpec(spec, at, {
        schema: leniencyOfStored(before),
        conversion: conversionLeniencyOf(before.conversion ?? {}, isEstablished(old)),
      });
  return [
    ...specErrors,
    // Fields that storage keys depend on are immutable once the definition is established.
    ...(isEstablished(old)
      ? [
          ...immutable(spec.scope, before.scope, at.child('scope')),
          ...immutable(names.kind, oldNames.kind, at.child('names', 'kind')),
        ]
      : []),
    ...immutable(spec.group, before.group, at.child('group')),
    ...immutable(names.plural, oldNames.plural, at.child('names', 'plural')),
    ...validateStatusNames(definition),
    ...validateStoredVersions(definition),
    ...validateApproval(definition, old, naming),
    ...validatePreserved(definition, old),
  ];
}

export function validateStatusNames({ status }: CustomResourceDefinition): FieldError[] {
  return validateNames(status?.acceptedNames ?? {}, path('status').child('acceptedNames'));
}

function validateName({ metadata, spec = {} }: CustomResourceDefinition): FieldError[] {
  const { names = {}, group = '' } = spec;
  const { name = '' } = metadata;
  if (name === `${names.plural ?? ''}.${group}`) return [];
  return [fieldError.invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
}

interface Leniency {
  readonly schema: SchemaLeniency;
  readonly conversion: ConversionLeniency;
}

function leniencyOfStored(spec: CustomResourceDefinitionSpec): SchemaLeniency {
  const { common, versions } = viewOf(spec);
  return leniencyOf(
    schemaOf(common.schema),
    versions.map(({ schema }) => schemaOf(schema)),
  );
}

function* validateSpec(
  spec: CustomResourceDefinitionSpec,
  at: FieldPath,
  { schema: leniency, conversion }: Leniency,
): Steps<FieldError[]> {
  yield;
  const view = viewOf(spec);
  const { common } = view;
  const { names = {} } = spec;
  // Validation compiles the patterns; if that takes too long, nothing else is validated.
  if (!leniency.costlyPatterns && hasCostlyPatterns(schemasOf(view))) {
    const message = 'schema has too many patterns, or patterns that are too large';
    return [fieldError.forbidden(at.child('versions'), message)];
  }
  yield;
  return [
    ...validateGroup(spec.group ?? '', at.child('group')),
    ...choice(spec.scope, at.child('scope'), ['Cluster', 'Namespaced']),
    ...validateHasSchema(view, at.child('versions'), leniency),
    ...(yield* validateVersions(view, at.child('versions'), leniency)),
    ...validateVersionList(view, at),
    ...requiredNames(names, at.child('names')),
    ...validateNames(names, at.child('names')),
    ...(yield* validateHeldSchema(common.schema, at.child('validation'), anyStatusIsApart(view), leniency)),
    ...validateSubresources(common.subresources, at.child('subresources')),
    ...validateColumns(common.additionalPrinterColumns, at),
    ...validateSelectableFields(common.selectableFields, schemaOf(common.schema), at.child('selectableFields')),
    ...validateConversion(spec.conversion ?? {}, at.child('conversion'), conversion),
  ];
}

function validateGroup(group: string, at: FieldPath): FieldError[] {
  if (group === '') return required(group, at);
  const problems = validateDnsSubdomain(group);
  if (problems.length > 0) return [fieldError.invalid(at, group, problems.join(','))];
  if (group.includes('.')) return [];
  return [fieldError.invalid(at, group, 'should be a domain with at least one dot')];
}

function choice(text = '', at: FieldPath, accepted: readonly string[]): FieldError[] {
  if (text === '') return required(text, at);
  return accepted.includes(text) ? [] : [fieldError.notSupported(at, text, accepted)];
}

function validateHasSchema(
  { common, versions }: DefinitionView,
  at: FieldPath,
  leniency: SchemaLeniency,
): FieldError[] {
  if (schemaOf(common.schema)) return [];
  return versions.flatMap((version, index) => {
    const schemaAt = at.index(index).child('schema', 'openAPIV3Schema');
    if (schemaOf(version.schema)) return [];
    if (!leniency.mayLackSchema) return required(undefined, schemaAt);
    return version.served ? required(undefined, schemaAt, 'because otherwise all fields are pruned') : [];
  });
}

function* validateVersions(view: DefinitionView, at: FieldPath, leniency: SchemaLeniency): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (const [index, version] of view.versions.entries()) {
    for (const error of yield* validateVersion(version, at.index(index), view, leniency)) errors.push(error);
    yield;
  }
  return errors;
}

function* validateVersion(
  version: CustomResourceDefinitionVersion,
  at: FieldPath,
  view: DefinitionView,
  leniency: SchemaLeniency,
): Steps<FieldError[]> {
  const { name = '' } = version;
  const problems = validateDns1035Label(name);
  const own = version.subresources ?? view.common.subresources;
  return [
    ...(problems.length > 0 ? [fieldError.invalid(at.child('name'), name, problems.join(','))] : []),
    ...deprecationProblems(version).map((problem) =>
      fieldError.invalid(at.child('deprecationWarning'), version.deprecationWarning, problem),
    ),
    ...(yield* validateHeldSchema(version.schema, at.child('schema'), statusIsApart(own), leniency)),
    ...validateSubresources(version.subresources, at.child('subresources')),
    ...validateColumns(version.additionalPrinterColumns, at),
    ...validateSelectableFields(
      version.selectableFields,
      schemaOf(version.schema ?? view.common.schema),
      at.child('selectableFields'),
    ),
  ];
}

function deprecationProblems({ deprecated, deprecationWarning: text }: CustomResourceDefinitionVersion): string[] {
  if (text === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const problems: string[] = [];
  if (Buffer.byteLength(text) > 256) problems.push('must be <= 256 characters long');
  if (text === '') problems.push('must not be an empty string');
  const unprintable = [...text].findIndex((character) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character));
  if (unprintable >= 0) {
    const at = Buffer.byteLength([...text].slice(0, unprintable).join(''));
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
  }
  return problems;
}

function anyStatusIsApart({ common, versions }: DefinitionView): boolean {
  return statusIsApart(common.subresources) || versions.some(({ subresources }) => statusIsApart(subresources));
}

function* validateHeldSchema(
  holder: CustomResourceValidation | undefined,
  at: FieldPath,
  isStatusApart: boolean,
  leniency: SchemaLeniency,
): Steps<FieldError[]> {
  const schema = schemaOf(holder);
  return schema ? yield* validateSchema(schema, at.child('openAPIV3Schema'), { isStatusApart, leniency }) : [];
}

function validateColumns(columns: readonly CustomResourceColumnDefinition[] = [], at: FieldPath): FieldError[] {
  return columns.flatMap((column, index) => validateColumn(column, at.child('additionalPrinterColumns').index(index)));
}

/** Requires exactly one storage version. */
function validateVersionList({ versions, version }: DefinitionView, at: FieldPath): FieldError[] {
  const names = versions.map(({ name = '' }) => name);
  const invalid = (message: string) => fieldError.invalid(at.child('versions'), versions.map(shown), message);
  const errors: FieldError[] = [];
  if (new Set(names).size < names.length) errors.push(invalid('must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid('must have exactly one version marked as storage version'));
  }
  const problems = version === '' ? [] : validateDns1035Label(version);
  if (problems.length > 0) errors.push(fieldError.invalid(at.child('version'), version, problems.join(',')));
  return errors;
}

const shown = (version: CustomResourceDefinitionVersion) =>
  goStruct(version, [
    ['name', ''],
    ['served', false],
    ['storage', false],
    ['deprecated', false],
    ['deprecationWarning', null],
    ['schema', null],
    ['subresources', null],
    ['additionalPrinterColumns', null],
    ['selectableFields', null],
  ]);

const requiredNameFields = ['plural', 'singular', 'kind', 'listKind'] as const;

function requiredNames(names: CustomResourceDefinitionNames, at: FieldPath): FieldError[] {
  return requiredNameFields.flatMap((field) => required(names[field], at.child(field)));
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const at = path('status').child('storedVersions');
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) {
    return [fieldError.invalid(at, status?.storedVersions ?? null, 'must have at least one stored version')];
  }
  const versions = spec?.versions ?? [];
  const names = new Set(versions.map(({ name = '' }) => name));
  const onRecord = new Set(stored);
  return [
    ...versions
      .filter(({ name = '', storage }) => storage && !onRecord.has(name))
      .map(({ name = '' }) => fieldError.invalid(at, stored, `must have the storage version ${name}`)),
    ...stored.flatMap((name, index) =>
      names.has(name) ? [] : [fieldError.invalid(at.index(index), name, goneVersion(name))],
    ),
  ];
}

const goneVersion = (name: string): string =>
  `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;

function validatePreserved(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): FieldError[] {
  const keeps = (object: CustomResourceDefinition | undefined) => object?.spec?.preserveUnknownFields === true;
  if (keeps(old) || !keeps(definition)) return [];
  const message =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [fieldError.invalid('spec.preserveUnknownFields', true, message)];
}
