import { ApiError } from '../../machinery/api-error.js';
import { defineAdmissionPlugin } from '../admission-plugin.js';
import { find } from '../object-reader.js';

const namespaces = { group: '', resource: 'namespaces' };

/** Refuses every write in a namespace that does not exist. */
export const namespaceExists = defineAdmissionPlugin({
  name: 'NamespaceExists',
  runs: 'if enabled',
  make: ({ objects }) => ({
    async validate({ resource, namespaced, namespace, request }) {
      if (!namespaced || namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return;
      if (await find(objects, namespaces, '', namespace, request.signal)) return;
      throw ApiError.notFound(namespaces, namespace);
    },
  }),
});
