import { deepEqual } from '../../machinery/deep-equal.js';
import { goQuote } from '../../machinery/field-error.js';
import { asFields, asText, asTexts, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { listed } from '../../machinery/listed.js';
import type { Revision } from '../../machinery/revision.js';
import type { Finding } from '../../custom-kinds/definition-conditions.js';
import { claimOf, type Claim } from './claims.js';

/**
 * Who comes first has a name. Servers decide on definitions of one group at the same time, so one first writes which
 * names it takes, and is established only from a state that has them. Of two that took a name at once, the later gives
 * it back: it was written after the other one, and its server has seen everything that came before it.
 */
export interface Given {
  readonly acceptedNames: Fields;
  readonly finding: Finding;
}

export function giveNames(definition: KubeObject, revision: Revision, others: readonly Claim[]): Given {
  const asked = asFields(asFields(definition['spec'])['names']);
  const before = asFields(asFields(definition['status'])['acceptedNames']);
  const claim = claimOf(definition, revision);
  const { isEstablished } = claim;
  const conflicts: { reason: string; names: string[] }[] = [];
  const taken = (of: 'resources' | 'kinds', name: string, isOwn: boolean) =>
    others.some((other) => other[of].has(name) && (!isOwn || comesBefore(other, claim)));

  /** The name that it asks for; or else what it is served under: what nobody uses others may have. */
  const give = (field: string, of: 'resources' | 'kinds', reason: string): string => {
    const name = asText(asked[field]);
    const had = asText(before[field]);
    if (!taken(of, name, name === had)) return name;
    conflicts.push({ reason, names: [name] });
    return isEstablished ? had : '';
  };
  const giveShortNames = (): string[] => {
    const names = asTexts(asked['shortNames']);
    const had = asTexts(before['shortNames']);
    const own = new Set(had);
    const lost = names.filter((name) => taken('resources', name, own.has(name)));
    if (lost.length === 0) return names;
    conflicts.push({ reason: 'ShortNamesConflict', names: lost });
    return isEstablished ? had : [];
  };

  const given: Fields = {
    plural: give('plural', 'resources', 'PluralConflict'),
    singular: give('singular', 'resources', 'SingularConflict'),
    shortNames: giveShortNames(),
    kind: give('kind', 'kinds', 'KindConflict'),
    listKind: give('listKind', 'kinds', 'ListKindConflict'),
    categories: asTexts(asked['categories']),
  };
  const acceptedNames = withoutEmpties(given);
  return {
    acceptedNames: deepEqual(acceptedNames, withoutEmpties(before)) ? before : acceptedNames,
    finding: findingOf(conflicts),
  };
}

/** What an established kind has, it keeps: clients use it. */
function comesBefore(other: Claim, own: Claim): boolean {
  if (own.isEstablished) return false;
  return other.isEstablished || other.revision < own.revision;
}

/** Of several conflicts the last is told. */
function findingOf(conflicts: readonly { reason: string; names: string[] }[]): Finding {
  const type = 'NamesAccepted';
  const last = conflicts.at(-1);
  if (!last) return { type, status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const message = listed(last.names.map((name) => `${goQuote(name)} is already in use`));
  return { type, status: 'False', reason: last.reason, message };
}

/** As it is stored: plural and kind always, the others where they say something. */
function withoutEmpties(names: Fields): Fields {
  const isSaid = ([field, value]: [string, unknown]) =>
    field === 'plural' || field === 'kind' || (Array.isArray(value) ? value.length > 0 : asText(value) !== '');
  return Object.fromEntries(Object.entries(names).filter(isSaid));
}
