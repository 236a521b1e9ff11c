import type { NamingProfile } from '../../config/naming-profile.js';
import { ApiError } from '../../machinery/api-error.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';

const namespaces = { group: '', resource: 'namespaces' };

interface Parts {
  readonly objects: ObjectReader;
  readonly naming: NamingProfile;
}

/**
 * Nothing is made in a namespace that is missing or going, and the namespaces that the system lives in stay.
 * A namespace that the cache does not know may only be too young for it, so the store is asked before it is refused.
 */
export function namespaceLifecycle({ objects, naming }: Parts): AdmissionPlugin {
  const immortal = new Set(['default', naming.systemNamespace('system'), naming.systemNamespace('public')]);

  return {
    name: 'NamespaceLifecycle',
    async admit(attributes) {
      const { operation, namespace, name, resource, request } = attributes;
      const isNamespace = resource.group === '' && resource.resource === 'namespaces';
      if (isNamespace) {
        if (operation === 'DELETE' && immortal.has(name)) {
          throw ApiError.forbidden(resource, name, 'this namespace may not be deleted');
        }
        return;
      }
      if (operation !== 'CREATE' || !attributes.namespaced || namespace === '' || isReview(attributes)) return;
      const found = await find(objects, namespaces, '', namespace, request.signal);
      if (!found) throw ApiError.notFound(namespaces, namespace);
      if (found.metadata.deletionTimestamp === undefined || attributes.subresource !== '') return;
      throw ApiError.forbidden(
        resource,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      );
    },
  };
}

/** A question about rights is no content of the namespace. */
function isReview(attributes: AdmissionAttributes): boolean {
  return attributes.resource.resource === 'localsubjectaccessreviews';
}
