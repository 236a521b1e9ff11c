import { ApiError } from '../machinery/api-error.js';
import type { ViewSubresource } from '../registry/definition/resource-definition.js';
import type { ServedResource } from '../registry/resource-registry.js';

export function viewSubresourceOf(
  served: ServedResource,
  subresource: string,
  verb: 'get' | 'update' | 'patch',
): ViewSubresource {
  const found = Object.hasOwn(served.definition.subresources, subresource)
    ? served.definition.subresources[subresource]
    : undefined;
  if (found?.type !== 'view') throw ApiError.noSuchResource();
  if (!found.verbs.includes(verb)) throw ApiError.methodNotAllowed();
  return found;
}
