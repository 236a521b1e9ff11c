import type { EncodedObject } from '../../cache/encoded-object.js';
import { asFields, asText, asTexts } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import { holds, isEstablished } from '../../custom-kinds/definition-conditions.js';

/** The names that a definition has been given in its group; others cannot have them. */
export interface Claim {
  readonly definition: string;
  readonly group: string;
  /** Of the state that says so. */
  readonly revision: Revision;
  readonly isEstablished: boolean;
  /** Some names that it asks for were not given to it. */
  readonly isWaiting: boolean;
  /** What paths and users call it: plural, singular and short names. */
  readonly resources: ReadonlySet<string>;
  /** What objects and lists call themselves. */
  readonly kinds: ReadonlySet<string>;
}

export function claimOf(definition: KubeObject, revision: Revision): Claim {
  const accepted = asFields(asFields(definition['status'])['acceptedNames']);
  const given = (names: readonly unknown[]) => new Set(names.map(asText).filter((name) => name !== ''));
  return {
    definition: definition.metadata.name ?? '',
    group: asText(asFields(definition['spec'])['group']),
    revision,
    isEstablished: isEstablished(definition),
    isWaiting: !holds(definition, 'NamesAccepted'),
    resources: given([accepted['plural'], accepted['singular'], ...asTexts(accepted['shortNames'])]),
    kinds: given([accepted['kind'], accepted['listKind']]),
  };
}

/** All claims, as of the state of the cache: a definition may be large, and its names are asked for very often. */
export class ClaimBook {
  private readonly groups = new Map<string, Map<string, Claim>>();
  private readonly byDefinition = new Map<string, Claim>();

  /** Notes a state of a definition, or that it is gone, and names those who wait for what that sets free. */
  note(definition: string, entry: EncodedObject | undefined, parse = (it: EncodedObject) => it.parse()): string[] {
    const before = this.byDefinition.get(definition);
    if (entry && before?.revision === entry.revision) return [];
    const after = entry && !entry.corruption ? claimOf(parse(entry), entry.revision) : undefined;
    if (before) this.forget(before);
    if (after) this.add(after);
    if (!before) return [];
    const isKept = (name: string) => after?.resources.has(name) || after?.kinds.has(name);
    if ([...before.resources].every(isKept) && [...before.kinds].every(isKept)) return [];
    return this.others(before)
      .filter(({ isWaiting }) => isWaiting)
      .map((claim) => claim.definition);
  }

  /** Of the same group. */
  others({ group, definition }: Pick<Claim, 'group' | 'definition'>): Claim[] {
    return [...(this.groups.get(group)?.values() ?? [])].filter((claim) => claim.definition !== definition);
  }

  clear(): void {
    this.groups.clear();
    this.byDefinition.clear();
  }

  private add(claim: Claim): void {
    this.byDefinition.set(claim.definition, claim);
    const group = this.groups.get(claim.group) ?? new Map<string, Claim>();
    group.set(claim.definition, claim);
    this.groups.set(claim.group, group);
  }

  private forget({ definition, group }: Claim): void {
    this.byDefinition.delete(definition);
    const claims = this.groups.get(group);
    claims?.delete(definition);
    if (claims?.size === 0) this.groups.delete(group);
  }
}
