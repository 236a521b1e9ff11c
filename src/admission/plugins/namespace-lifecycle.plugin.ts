import { ApiError } from '../../machinery/api-error.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { find } from '../object-reader.js';

const namespaces = { group: '', resource: 'namespaces' };

/** Refuses to create objects in a namespace that is missing or terminating, and to delete the system namespaces. */
export const namespaceLifecycle = defineAdmissionPlugin({
  name: 'NamespaceLifecycle',
  runs: 'by default',
  make({ objects, naming }) {
    const reviews = naming.group('authorization');
    const immortal = new Set(['default', naming.systemNamespace('system'), naming.systemNamespace('public')]);
    const requireActive = async ({ resource, namespace, name, subresource, request }: AdmissionAttributes) => {
      const found = await find(objects, namespaces, '', namespace, request.signal);
      if (!found) throw ApiError.notFound(namespaces, namespace);
      if (found.metadata.deletionTimestamp === undefined || subresource !== '') return;
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
    };
    return {
      actsOnUnchanged: () => false,
      admit(attributes) {
        const { operation, namespace, name, resource } = attributes;
        const isNamespace = resource.group === '' && resource.resource === 'namespaces';
        if (isNamespace && operation === 'DELETE' && immortal.has(name))
          throw ApiError.forbidden(resource, name, 'this namespace may not be deleted');
        if (isNamespace || operation !== 'CREATE' || !attributes.namespaced || namespace === '') return undefined;
        // A LocalSubjectAccessReview is answered and not stored, so that the state of the namespace does not matter.
        if (resource.group === reviews && resource.resource === 'localsubjectaccessreviews') return undefined;
        return requireActive(attributes);
      },
    };
  },
});
