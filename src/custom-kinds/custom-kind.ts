import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../catalog/types/apiextensions.v1.js';
import type { Fields } from '../machinery/fields.js';
import { compareKubeVersions } from '../machinery/kube-version.js';
import { holds, isEstablished } from './definition-conditions.js';
import { schemaOf, statusIsApart } from './definition-view.js';

/**
 * The parts of a CustomResourceDefinition that serving depends on, and nothing else: the resources are rebuilt only if
 * this value changes.
 */
export interface CustomKind {
  readonly group: string;
  readonly names: CustomNames;
  readonly namespaced: boolean;
  /** Sorted by version priority: the preferred version first. */
  readonly versions: readonly CustomVersion[];
  /** The strategy of `spec.conversion`. */
  readonly conversion: 'None' | 'Webhook';
  /**
   * True if a webhook converts and objects may be stored in versions other than the storage version, by
   * `status.storedVersions`.
   */
  readonly hasOtherStoredVersions: boolean;
  /** True while the definition is being deleted: creating objects is refused. */
  readonly isTerminating: boolean;
}

interface CustomNames {
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface CustomVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStored: boolean;
  readonly schema: Fields | undefined;
  readonly columns: readonly Fields[];
  /** JSON paths: `.spec.color`. */
  readonly selectableFields: readonly string[];
  readonly statusIsApart: boolean;
  readonly scale: CustomScale | undefined;
  /** Text of the Warning header of requests for a deprecated version. */
  readonly deprecation: string | undefined;
}

/** JSON paths of the scale subresource: `.spec.replicas`. */
export interface CustomScale {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly selector: string | undefined;
}

/** Returns the configuration of the conversion webhook. It is not part of CustomKind: a changed one ends no watches. */
export function webhookOf({ spec = {} }: CustomResourceDefinition): CustomResourceConversion['webhook'] {
  return spec.conversion?.strategy === 'Webhook' ? (spec.conversion.webhook ?? {}) : undefined;
}

/** Returns undefined until the definition is Established. */
export function customKindOf(definition: CustomResourceDefinition): CustomKind | undefined {
  const { spec = {}, status = {} } = definition;
  if (!isEstablished(definition)) return undefined;
  const { group = '' } = spec;
  const accepted = status.acceptedNames ?? {};
  const names = {
    kind: accepted.kind ?? '',
    listKind: accepted.listKind ?? '',
    plural: spec.names?.plural ?? '',
    singular: accepted.singular ?? '',
    shortNames: accepted.shortNames ?? [],
    categories: accepted.categories ?? [],
  };
  const versions = [...(spec.versions ?? [])].sort((a, b) => compareKubeVersions(b.name ?? '', a.name ?? ''));
  const conversion = spec.conversion?.strategy === 'Webhook' ? 'Webhook' : 'None';
  return {
    group,
    names,
    namespaced: spec.scope === 'Namespaced',
    versions: versions.map((version) => ({
      ...versionOf(version),
      deprecation: version.deprecated ? deprecationOf(version, versions, group, names.kind) : undefined,
    })),
    conversion,
    hasOtherStoredVersions:
      conversion === 'Webhook' &&
      (status.storedVersions ?? []).some(
        (name) => !versions.some((version) => version.name === name && version.storage),
      ),
    isTerminating: holds(definition, 'Terminating') || definition.metadata.deletionTimestamp !== undefined,
  };
}

function versionOf(version: CustomResourceDefinitionVersion): Omit<CustomVersion, 'deprecation'> {
  const scale = version.subresources?.scale;
  return {
    name: version.name ?? '',
    isServed: version.served === true,
    isStored: version.storage === true,
    schema: schemaOf(version.schema),
    columns: version.additionalPrinterColumns ?? [],
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath = '' }) => jsonPath),
    statusIsApart: statusIsApart(version.subresources),
    scale: scale && scaleOf(scale),
  };
}

/**
 * The deprecationWarning of the version, or a default text that recommends the first better version that is served and
 * not deprecated.
 */
function deprecationOf(
  version: CustomResourceDefinitionVersion,
  all: readonly CustomResourceDefinitionVersion[],
  group: string,
  kind: string,
): string {
  if (version.deprecationWarning) return version.deprecationWarning;
  const better = all.slice(0, all.indexOf(version)).find(({ served, deprecated }) => served && !deprecated);
  const instead = better ? `; use ${group}/${better.name ?? ''} ${kind}` : '';
  return `${group}/${version.name ?? ''} ${kind} is deprecated${instead}`;
}

function scaleOf(scale: CustomResourceSubresourceScale): CustomScale {
  return {
    specReplicas: scale.specReplicasPath ?? '',
    statusReplicas: scale.statusReplicasPath ?? '',
    selector: scale.labelSelectorPath || undefined,
  };
}
