import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '../../catalog/types/apiextensions.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { listed } from '../../machinery/listed.js';
import type { Revision } from '../../machinery/revision.js';
import type { Finding } from '../../custom-kinds/definition-conditions.js';
import { claimOf, type Claim } from './claims.js';

/**
 * The accepted names of a definition, and the condition NamesAccepted. The first definition with a name has it. Several
 * servers decide at the same time, so the accepted names are written first, and the definition is established only after
 * that. If two definitions accepted a name at once, the one that was written later releases it: its server has seen the
 * earlier write.
 */
export interface AcceptedNames {
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly finding: Finding;
}

type NameField = 'plural' | 'singular' | 'kind' | 'listKind';

export function acceptNames(
  definition: CustomResourceDefinition,
  revision: Revision,
  others: readonly Claim[],
): AcceptedNames {
  const wanted = definition.spec?.names ?? {};
  const before = definition.status?.acceptedNames ?? {};
  const claim = claimOf(definition, revision);
  const { isEstablished } = claim;
  const conflicts: { reason: string; names: string[] }[] = [];
  const isTaken = (set: 'resources' | 'kinds', name: string, isOwn: boolean) =>
    others.some((other) => other[set].has(name) && (!isOwn || comesBefore(other, claim)));

  /** Returns the wanted name or, on a conflict, the name that an established kind is served under. */
  const accept = (field: NameField, set: 'resources' | 'kinds', reason: string): string => {
    const name = wanted[field] ?? '';
    const had = before[field] ?? '';
    if (!isTaken(set, name, name === had)) return name;
    conflicts.push({ reason, names: [name] });
    return isEstablished ? had : '';
  };
  const acceptShortNames = (): readonly string[] => {
    const names = wanted.shortNames ?? [];
    const had = before.shortNames ?? [];
    const own = new Set(had);
    const lost = names.filter((name) => isTaken('resources', name, own.has(name)));
    if (lost.length === 0) return names;
    conflicts.push({ reason: 'ShortNamesConflict', names: lost });
    return isEstablished ? had : [];
  };

  const accepted: CustomResourceDefinitionNames = {
    plural: accept('plural', 'resources', 'PluralConflict'),
    singular: accept('singular', 'resources', 'SingularConflict'),
    shortNames: acceptShortNames(),
    kind: accept('kind', 'kinds', 'KindConflict'),
    listKind: accept('listKind', 'kinds', 'ListKindConflict'),
    categories: wanted.categories ?? [],
  };
  const acceptedNames = withoutEmpties(accepted);
  return {
    acceptedNames: deepEqual(acceptedNames, withoutEmpties(before)) ? before : acceptedNames,
    finding: findingOf(conflicts),
  };
}

/** True if the other definition has precedence. An established definition keeps its names, since clients use them. */
function comesBefore(other: Claim, own: Claim): boolean {
  if (own.isEstablished) return false;
  return other.isEstablished || other.revision < own.revision;
}

/** The condition has the last of several conflicts. */
function findingOf(conflicts: readonly { reason: string; names: string[] }[]): Finding {
  const type = 'NamesAccepted';
  const last = conflicts.at(-1);
  if (!last) return { type, status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const message = listed(last.names.map((name) => `${goQuote(name)} is already in use`));
  return { type, status: 'False', reason: last.reason, message };
}

/** Removes empty names as the stored form does, which always has plural and kind. */
function withoutEmpties(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const isKept = ([field, value]: [string, string | readonly string[] | undefined]) =>
    field === 'plural' || field === 'kind' || (value !== undefined && value.length > 0);
  return Object.fromEntries(Object.entries(names).filter(isKept));
}
