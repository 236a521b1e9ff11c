import type { ResourceDefinition } from '../../src/registry/definition/resource-definition.js';

/**
 * Definitions in one line each: plural, kind, short names, where it is stored, its subresources, the labels it is
 * selected by, and what it may.
 *
 *   n: lives in namespaces   c: a PUT creates it   u: a PUT needs no resourceVersion   d: a deletion answers with it
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

/** `plural@version`, and where else it is stored. */
export function versionsOf(definitions: readonly ResourceDefinition[]): string[] {
  return definitions.map(({ plural, version, hub }) => `${plural}@${version}${hub ? `<${hub.stored.version}` : ''}`);
}

/** As many cells as columns, also for an object that says nothing. */
export function hasWholeRows({ table, kind }: ResourceDefinition): boolean {
  return table.cells({ kind, apiVersion: 'v1', metadata: {} }, { nowMs: 0 }).length === table.columns.length;
}
