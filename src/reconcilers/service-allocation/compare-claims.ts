import type { Owner } from '../../service-allocation/claims.js';

/** That a name (an address, a node port) is taken, and by whom. */
export interface Claim {
  readonly name: string;
  readonly owner: Owner | undefined;
  /** Whether it may be removed: others make such objects for themselves. */
  readonly isManaged: boolean;
}

export interface Holder {
  readonly owner: Owner;
  readonly names: ReadonlySet<string>;
}

export interface Findings {
  /** Had by a service, and claimed by nobody. */
  readonly missing: readonly { readonly name: string; readonly owner: Owner }[];
  /** Claimed for a service that does not have it. */
  readonly leaked: readonly string[];
  /** Had by several services, or by one while it is another's. */
  readonly contested: readonly { readonly name: string; readonly owners: readonly Owner[] }[];
}

const keyOf = ({ namespace, name }: Owner): string => `${namespace}/${name}`;

export function compareClaims(holders: Iterable<Holder>, claims: Iterable<Claim>): Findings {
  const had = new Map<string, Owner[]>();
  for (const { owner, names } of holders) {
    for (const name of names) {
      const owners = had.get(name);
      if (owners) owners.push(owner);
      else had.set(name, [owner]);
    }
  }
  const missing: { name: string; owner: Owner }[] = [];
  const leaked: string[] = [];
  const contested: { name: string; owners: Owner[] }[] = [];
  const claimed = new Set<string>();
  for (const { name, owner, isManaged } of claims) {
    claimed.add(name);
    const owners = had.get(name) ?? [];
    const isRight = owner !== undefined && owners.some((it) => keyOf(it) === keyOf(owner));
    if (isRight) continue;
    if (isManaged) leaked.push(name);
    // Others may keep addresses for themselves, but not those of services.
    else if (owners.length > 0) contested.push({ name, owners: [...owners, ...(owner ? [owner] : [])] });
  }
  for (const [name, owners] of had) {
    if (owners.length > 1) contested.push({ name, owners });
    if (!claimed.has(name)) missing.push({ name, owner: owners[0]! });
  }
  return { missing, leaked, contested };
}
