import { apiVersionOf } from '../machinery/gvk.js';
import { asText, fieldsOfPath, valueAt } from '../machinery/fields.js';
import { scalarText } from '../machinery/json-path-text.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { TypeSource } from '../machinery/type-model.js';
import {
  defineResource,
  type Hub,
  type ViewSubresource,
  type ResourceDefinition,
} from '../registry/definition/resource-definition.js';
import { scaleSubresource } from '../registry/definition/scale-subresource.js';
import type { Strategy } from '../registry/definition/strategy.js';
import { customScaleTable, customTable } from './columns.js';
import { CustomForm } from './custom-form.js';
import type { WebhookConverter } from './conversion/webhook-converter.js';
import type { CustomKind, CustomScale, CustomVersion } from './custom-kind.js';
import { customStatus, customStrategy } from './custom-strategy.js';

/** The resource definitions of a custom kind. The storage version is always among them, even if it is not served. */
interface CustomDefinitions {
  readonly stored: ResourceDefinition;
  readonly served: readonly ServedCustomVersion[];
}

interface ServedCustomVersion {
  readonly definition: ResourceDefinition;
  readonly version: CustomVersion;
}

/** Returns undefined if no version is marked as the storage version: validation refuses such a definition. */
export function customDefinitions(
  kind: CustomKind,
  types: TypeSource,
  converter?: WebhookConverter,
): CustomDefinitions | undefined {
  const storedVersion = kind.versions.find(({ isStored }) => isStored);
  if (!storedVersion) return undefined;
  const forms = new Map<string, CustomForm>();
  for (const { name, schema } of kind.versions) {
    const apiVersion = apiVersionOf(kind.group, name);
    const formOfStored = converter && { formOfStored: (stored: string) => forms.get(stored) };
    forms.set(apiVersion, new CustomForm({ kind: kind.names.kind, apiVersion, schema, types, ...formOfStored }));
  }
  const hubOf = (version: CustomVersion): Hub | undefined => {
    // With strategy None, objects of other stored versions are converted when they are read from the store.
    if (version === storedVersion && !kind.hasOtherStoredVersions) return undefined;
    return hubFor(kind, version, storedVersion, forms, converter);
  };
  const definition = (version: CustomVersion) =>
    definitionOf(kind, version, forms.get(apiVersionOf(kind.group, version.name))!, hubOf(version), storedVersion);
  const stored = definition(storedVersion);
  const served = kind.versions
    .filter(({ isServed }) => isServed)
    .map((version) => ({ version, definition: version === storedVersion ? stored : definition(version) }));
  return { stored, served };
}

/** Conversion by strategy None prunes fields that the other version does not have; otherwise a webhook converts. */
function hubFor(
  { group, names }: CustomKind,
  version: CustomVersion,
  storedVersion: CustomVersion,
  forms: ReadonlyMap<string, CustomForm>,
  converter: WebhookConverter | undefined,
): Hub {
  const [own, hub] = [apiVersionOf(group, version.name), apiVersionOf(group, storedVersion.name)];
  const [ownForm, hubForm] = [forms.get(own)!, forms.get(hub)!];
  const stored = { group, version: storedVersion.name, plural: names.plural };
  if (!converter) {
    return { stored, toHub: (object) => hubForm.converted(object), fromHub: (object) => ownForm.converted(object) };
  }
  return {
    stored,
    toHub: (object) => hubForm.converted(converter.convert(object, hub)),
    fromHub: (object) => ownForm.converted(converter.convert(object, own)),
    fromHubAhead: (objects, trace) => converter.ahead(objects, own, trace),
  };
}

function definitionOf(
  { group, names, namespaced, versions, isTerminating }: CustomKind,
  version: CustomVersion,
  form: CustomForm,
  hub: Hub | undefined,
  storedVersion: CustomVersion,
): ResourceDefinition {
  const storedVersions = versions.map(({ name }) => ({ group, version: name }));
  const view = (stored: KubeObject): KubeObject =>
    hub ? { ...hub.fromHub(stored), apiVersion: apiVersionOf(group, version.name) } : stored;
  // Writes change objects in the storage version, whose fields a webhook may have given other names.
  const scale = version.scale && hub?.fromHubAhead ? (storedVersion.scale ?? version.scale) : version.scale;
  // Objects are selected by what is stored, so a webhook must not have moved the field.
  const fields = hub?.fromHubAhead
    ? version.selectableFields.filter((path) => storedVersion.selectableFields.includes(path))
    : version.selectableFields;
  const replicas = version.scale && { spec: version.scale.specReplicas, status: version.scale.statusReplicas };
  const strategy = customStrategy({ form, view, statusIsApart: version.statusIsApart, isTerminating, replicas });
  return defineResource({
    ...names,
    group,
    version: version.name,
    namespaced,
    storagePrefix: `${group}/${names.plural}`,
    storedVersions,
    selectableFields: Object.fromEntries(fields.map(selectable)),
    strategy,
    table: customTable(version.columns),
    subresources: {
      ...(version.statusIsApart && { status: customStatus({ form, view, replicas }) }),
      ...(scale && { scale: scaleOf(scale, strategy, { group, kind: names.kind }) }),
    },
    allowsUnconditionalUpdate: false,
    itemsCarryType: true,
    customType: form,
    hub,
  });
}

/** Validation errors of a write to the scale subresource name the fields of the custom resource itself. */
function scaleOf(
  { specReplicas, statusReplicas, selector }: CustomScale,
  strategy: Strategy,
  invalidKind: { readonly group: string; readonly kind: string },
): ViewSubresource {
  const lens = scaleSubresource({
    specReplicas: fieldsOfPath(specReplicas),
    statusReplicas: fieldsOfPath(statusReplicas),
    ...(selector !== undefined && {
      selector: (object: KubeObject) => asText(valueAt(object, fieldsOfPath(selector))),
    }),
  });
  return {
    ...lens,
    table: customScaleTable,
    invalidKind,
    validateInSteps: (object, old, context) => strategy.validateInSteps!(object, old, context),
  };
}

function selectable(path: string): [label: string, read: (object: KubeObject) => string] {
  const steps = fieldsOfPath(path);
  const read = (object: KubeObject) => {
    const value = valueAt(object, steps);
    return typeof value === 'object' || value === undefined
      ? ''
      : scalarText(value as Parameters<typeof scalarText>[0]);
  };
  return [steps.join('.'), read];
}
