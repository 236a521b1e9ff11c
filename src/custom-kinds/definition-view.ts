import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
} from '../catalog/types/apiextensions.v1.js';
import { deepEqual } from '../machinery/deep-equal.js';
import { isSet, type Fields } from '../machinery/fields.js';

/**
 * A definition in the shape that validation errors refer to: fields that all versions share are in the spec itself, as
 * in v1beta1, so that paths read `spec.validation.openAPIV3Schema…` as kube-apiserver's do.
 */
export interface DefinitionView {
  readonly versions: readonly CustomResourceDefinitionVersion[];
  readonly common: Pick<CustomResourceDefinitionVersion, (typeof hoisted)[number]>;
  /** Name of the first version. */
  readonly version: string;
}

const hoisted = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

export function viewOf(spec: CustomResourceDefinitionSpec): DefinitionView {
  const versions = spec.versions ?? [];
  const first: CustomResourceDefinitionVersion = versions[0] ?? {};
  const isCommon = (field: (typeof hoisted)[number]) =>
    versions.every((version) => deepEqual(orAbsent(version[field]), orAbsent(first[field])));
  const shared = hoisted.filter((field) => versions.length > 0 && isCommon(field));
  return {
    versions: versions.map((version) =>
      Object.fromEntries(Object.entries(version).filter(([field]) => !shared.some((other) => other === field))),
    ),
    common: Object.fromEntries(
      hoisted.map((field) => [field, shared.includes(field) ? orAbsent(first[field]) : undefined]),
    ),
    version: first.name ?? '',
  };
}

/** Returns undefined for null and for an empty list. */
function orAbsent(value: unknown): unknown {
  return !isSet(value) || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

export function schemaOf(holder: CustomResourceValidation | undefined): Fields | undefined {
  return holder?.openAPIV3Schema;
}

/** The distinct schemas of all versions. */
export function schemasOf({ common, versions }: Pick<DefinitionView, 'common' | 'versions'>): Fields[] {
  return [common.schema, ...versions.map(({ schema }) => schema)]
    .map((holder) => schemaOf(holder))
    .filter((schema) => schema !== undefined);
}

export function statusIsApart(subresources: CustomResourceSubresources | undefined): boolean {
  return subresources?.status !== undefined;
}
