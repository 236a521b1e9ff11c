import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { plainDelete } from '../../machinery/delete-options.js';
import { apiregistrationVersion } from '../../modules/apiregistration/apiregistration.resources.js';
import { deleteObject } from '../../registry/write/delete.js';
import type { ResourceRegistry, ServedResource, ServedVersion } from '../../registry/resource-registry.js';
import { bootContext, ensureObject, type BootObject } from './ensure-object.js';

/** Writes an APIService for each version that this server serves, and deletes those of versions it no longer serves. */
export async function ensureApiServices(registry: ResourceRegistry, naming: NamingProfile): Promise<void> {
  const { group, version } = apiregistrationVersion(naming);
  const label = naming.label('automanaged', naming.systemName('aggregator'));
  const served = registry.servedVersions().filter((it) => it.group !== group);
  const wanted = served.map((it) => localApiService(it, { group, version }, label));
  const names = new Set(wanted.map(({ object }) => object.metadata.name));
  const resource = registry.require(group, version, 'apiservices');
  await Promise.all([
    ...wanted.map((boot) => ensureObject(registry, boot)),
    ...managedNames(resource, label)
      .filter((name) => !names.has(name))
      .map((name) => remove(resource, name)),
  ]);
}

function localApiService(
  { group, version, groupPriority, versionPriority }: ServedVersion,
  registration: { readonly group: string; readonly version: string },
  label: string,
): BootObject {
  return {
    ...registration,
    resource: 'apiservices',
    keeps: ['spec'],
    object: {
      kind: 'APIService',
      apiVersion: apiVersionOf(registration.group, registration.version),
      metadata: { name: `${version}.${group}`, labels: { [label]: onStart } },
      spec: {
        ...(group !== '' && { group }),
        version,
        groupPriorityMinimum: groupPriority,
        versionPriority,
      },
    },
  };
}

/** Value of the label for built-in versions. APIServices of custom kinds are not written here. */
const onStart = 'onstart';

function managedNames({ store }: ServedResource, label: string): string[] {
  return [...store.cache.snapshot().range(store.scopeOf(''))]
    .filter((entry) => !entry.corruption && entry.attributes.labels?.[label] === onStart)
    .map(({ attributes }) => attributes.name);
}

async function remove({ store }: ServedResource, name: string): Promise<void> {
  try {
    await deleteObject(store, { namespace: '', name }, plainDelete, bootContext());
  } catch (error) {
    // Another server has deleted it.
    if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
  }
}
