import type { EncodedObject } from '../../cache/encoded-object.js';
import type { CustomResourceDefinition } from '../../catalog/types/apiextensions.v1.js';
import type { Revision } from '../../machinery/revision.js';
import { holds, isEstablished } from '../../custom-kinds/definition-conditions.js';

/** The accepted names of a CustomResourceDefinition, which no other one in its group can have. */
export interface Claim {
  readonly definition: string;
  readonly group: string;
  /** Revision of the definition. */
  readonly revision: Revision;
  readonly isEstablished: boolean;
  /** True if not all names of its spec are accepted. */
  readonly isWaiting: boolean;
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kind and list kind. */
  readonly kinds: ReadonlySet<string>;
}

export function claimOf(definition: CustomResourceDefinition, revision: Revision): Claim {
  const { plural, singular, shortNames = [], kind, listKind } = definition.status?.acceptedNames ?? {};
  const present = (names: readonly (string | undefined)[]) => new Set(names.flatMap((name) => name || []));
  return {
    definition: definition.metadata.name ?? '',
    group: definition.spec?.group ?? '',
    revision,
    isEstablished: isEstablished(definition),
    isWaiting: !holds(definition, 'NamesAccepted'),
    resources: present([plural, singular, ...shortNames]),
    kinds: present([kind, listKind]),
  };
}

/** The claims of all cached definitions. Definitions may be large and their names are read often, so they are parsed once. */
export class ClaimBook {
  private readonly groups = new Map<string, Map<string, Claim>>();
  private readonly byDefinition = new Map<string, Claim>();

  /** Updates the claim of a changed or deleted definition. Returns the definitions that wait for a name it no longer has. */
  note(
    definition: string,
    entry: EncodedObject | undefined,
    parse = (cached: EncodedObject): CustomResourceDefinition => cached.parse(),
  ): string[] {
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

  /** Returns the claims of other definitions in the same group. */
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
