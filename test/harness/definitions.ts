import type { ResourceDefinition } from '../../src/registry/definition/resource-definition.js';

/**
 * Prints each definition as one line: plural, kind, short names, storage prefix, subresources, field labels of
 * selectors, and flags:
 *
 *   n: namespaced   c: PUT creates   u: PUT needs no resourceVersion   d: DELETE answers with the object
 */
export function linesOf(definitions: readonly ResourceDefinition[]): string[] {
  return definitions.map((definition) => {
    const { plural, kind, shortNames, storagePrefix, subresources, selectableFields } = definition;
    const may = [
      definition.namespaced ? 'n' : '-',
      definition.allowsCreateOnUpdate ? 'c' : '-',
      definition.allowsUnconditionalUpdate ? 'u' : '-',
      definition.returnsDeletedObject ? 'd' : '-',
    ].join('');
    const lists = [shortNames, Object.keys(subresources), Object.keys(selectableFields)];
    const [names, parts, labels] = lists.map((list) => list.join() || '-');
    return [plural, kind, names, storagePrefix, parts, labels, may].join(' ');
  });
}

/** `plural@version`, and other storage versions. */
export function versionsOf(definitions: readonly ResourceDefinition[]): string[] {
  return definitions.map(({ plural, version, hub }) => `${plural}@${version}${hub ? `<${hub.stored.version}` : ''}`);
}

/** True if rows have as many cells as columns, also for an object without fields. */
export function hasWholeRows({ table, kind }: ResourceDefinition): boolean {
  return table.cells({ kind, apiVersion: 'v1', metadata: {} }, { nowMs: 0 }).length === table.columns.length;
}
