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
export function customDefinitions(kind: CustomKind, types: TypeSource): CustomDefinitions | undefined {
  const storedVersion = kind.versions.find(({ isStored }) => isStored);
  if (!storedVersion) return undefined;
  const storedForm = formOf(kind, storedVersion, types);
  const stored = definitionOf(kind, storedVersion, storedForm, undefined);
  const served = kind.versions
    .filter(({ isServed }) => isServed)
    .map((version): ServedCustomVersion => {
      if (version === storedVersion) return { version, definition: stored };
      const form = formOf(kind, version, types);
      const hub: Hub = {
        stored: { group: kind.group, version: storedVersion.name, plural: kind.names.plural },
        toHub: (object) => storedForm.converted(object),
        fromHub: (object) => form.converted(object),
      };
      return { version, definition: definitionOf(kind, version, form, hub) };
    });
  return { stored, served };
}

function formOf({ group, names }: CustomKind, { name, schema }: CustomVersion, types: TypeSource): CustomForm {
  return new CustomForm({ kind: names.kind, apiVersion: apiVersionOf(group, name), schema, types });
}

function definitionOf(
  { group, names, namespaced, versions, isTerminating }: CustomKind,
  version: CustomVersion,
  form: CustomForm,
  hub: Hub | undefined,
): ResourceDefinition {
  const storedVersions = versions.map(({ name }) => ({ group, version: name }));
  const view = (stored: KubeObject): KubeObject =>
    hub ? { ...hub.fromHub(stored), apiVersion: apiVersionOf(group, version.name) } : stored;
  const replicas = version.scale && { spec: version.scale.specReplicas, status: version.scale.statusReplicas };
  const strategy = customStrategy({ form, view, statusIsApart: version.statusIsApart, isTerminating, replicas });
  return defineResource({
    ...names,
    group,
    version: version.name,
    namespaced,
    storagePrefix: `${group}/${names.plural}`,
    storedVersions,
    selectableFields: Object.fromEntries(version.selectableFields.map(selectable)),
    strategy,
    table: customTable(version.columns),
    subresources: {
      ...(version.statusIsApart && { status: customStatus({ form, view, replicas }) }),
      ...(version.scale && { scale: scaleOf(version.scale, strategy, { group, kind: names.kind }) }),
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
