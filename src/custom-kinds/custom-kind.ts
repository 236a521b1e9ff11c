import { asFields, asItems, asText, asTexts, isSet, type Fields } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
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
  /** True while the definition is being deleted: creating objects is refused. */
  readonly isTerminating: boolean;
}

export interface CustomNames {
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

/** Returns undefined until the definition is Established. */
export function customKindOf(definition: KubeObject): CustomKind | undefined {
  const spec = asFields(definition['spec']);
  const status = asFields(definition['status']);
  if (!isEstablished(definition)) return undefined;
  const group = asText(spec['group']);
  const accepted = asFields(status['acceptedNames']);
  const names = {
    kind: asText(accepted['kind']),
    listKind: asText(accepted['listKind']),
    plural: asText(asFields(spec['names'])['plural']),
    singular: asText(accepted['singular']),
    shortNames: asTexts(accepted['shortNames']),
    categories: asTexts(accepted['categories']),
  };
  const versions = asItems(spec['versions']).sort((a, b) => compareKubeVersions(asText(b['name']), asText(a['name'])));
  return {
    group,
    names,
    namespaced: spec['scope'] === 'Namespaced',
    versions: versions.map((version) => ({
      ...versionOf(version),
      deprecation: version['deprecated'] === true ? deprecationOf(version, versions, group, names.kind) : undefined,
    })),
    conversion: asFields(spec['conversion'])['strategy'] === 'Webhook' ? 'Webhook' : 'None',
    isTerminating: holds(definition, 'Terminating') || definition.metadata.deletionTimestamp !== undefined,
  };
}

function versionOf(version: Fields): Omit<CustomVersion, 'deprecation'> {
  const scale = asFields(version['subresources'])['scale'];
  return {
    name: asText(version['name']),
    isServed: version['served'] === true,
    isStored: version['storage'] === true,
    schema: schemaOf(version['schema']),
    columns: asItems(version['additionalPrinterColumns']),
    selectableFields: asItems(version['selectableFields']).map(({ jsonPath }) => asText(jsonPath)),
    statusIsApart: statusIsApart(version['subresources']),
    scale: isSet(scale) ? scaleOf(asFields(scale)) : undefined,
  };
}

/**
 * The deprecationWarning of the version, or a default text that recommends the first better version that is served and
 * not deprecated.
 */
function deprecationOf(version: Fields, all: readonly Fields[], group: string, kind: string): string {
  const own = asText(version['deprecationWarning']);
  if (own !== '') return own;
  const better = all
    .slice(0, all.indexOf(version))
    .find((other) => other['served'] === true && other['deprecated'] !== true);
  const instead = better ? `; use ${group}/${asText(better['name'])} ${kind}` : '';
  return `${group}/${asText(version['name'])} ${kind} is deprecated${instead}`;
}

function scaleOf(scale: Fields): CustomScale {
  return {
    specReplicas: asText(scale['specReplicasPath']),
    statusReplicas: asText(scale['statusReplicasPath']),
    selector: asText(scale['labelSelectorPath']) || undefined,
  };
}
