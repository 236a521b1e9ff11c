import { ApiError } from '../../machinery/api-error.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { find, type ObjectReader } from '../object-reader.js';

const namespaces = { group: '', resource: 'namespaces' };

/** Nothing at all is written in a namespace that is not there. */
export function namespaceExists({ objects }: { readonly objects: ObjectReader }): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    async validate({ resource, namespaced, namespace, request }) {
      if (!namespaced || namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return;
      if (await find(objects, namespaces, '', namespace, request.signal)) return;
      throw ApiError.notFound(namespaces, namespace);
    },
  };
}
