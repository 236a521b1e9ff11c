import type { NamingProfile } from '../../config/naming-profile.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { defaultTable } from '../../registry/definition/table.js';
import { fromStoredDefinition, toStoredDefinition } from '../../custom-kinds/definition-storage.js';
import { definitionStatusSubresource, definitionStrategy } from './definition.strategy.js';

export const apiextensionsVersion = (naming: NamingProfile) => ({
  group: naming.group('apiextensions'),
  version: 'v1',
});

export function apiextensionsResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const stored = { ...apiextensionsVersion(naming), version: 'v1beta1' };
  return [
    defineResource({
      ...apiextensionsVersion(naming),
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
      namespaced: false,
      storagePrefix: `${apiextensionsVersion(naming).group}/customresourcedefinitions`,
      strategy: definitionStrategy(naming),
      table: defaultTable,
      subresources: { status: definitionStatusSubresource },
      allowsUnconditionalUpdate: false,
      storage: { version: stored.version, fromHub: toStoredDefinition(apiVersionOf(stored.group, stored.version)) },
      storedVersions: [{ ...stored, toHub: fromStoredDefinition }],
    }),
  ];
}
