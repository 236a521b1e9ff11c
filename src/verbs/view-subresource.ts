import { ApiError } from '../machinery/api-error.js';
import { subresourceOf, type ViewSubresource } from '../registry/definition/resource-definition.js';
import type { ServedResource } from '../registry/resource-registry.js';

/**
 * Returns the view that a request reads or writes; undefined for the object itself (''). Throws 404 if the subresource does
 * not exist, and 405 if it lacks the verb.
 */
export function viewSubresourceOf(
  served: ServedResource,
  subresource: string,
  verb: 'get' | 'update' | 'patch',
): ViewSubresource | undefined {
  if (subresource === '') return undefined;
  const found = subresourceOf(served.definition, subresource);
  if (found?.type !== 'view') throw ApiError.noSuchResource();
  if (!found.verbs.includes(verb)) throw ApiError.methodNotAllowed();
  return found;
}
