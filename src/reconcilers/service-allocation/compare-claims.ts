import type { Owner } from '../../service-allocation/claims.js';

/** An allocated cluster IP or node port and its owner. */
export interface Claim {
  /** The address or the port. */
  readonly name: string;
  readonly owner: Owner | undefined;
  /** True if the server created the claim and may delete it; users may create IPAddresses, too. */
  readonly isManaged: boolean;
}

export interface Holder {
  readonly owner: Owner;
  readonly names: ReadonlySet<string>;
}

export interface Findings {
  /** Names that a Service has without a claim. */
  readonly missing: readonly { readonly name: string; readonly owner: Owner }[];
  /** Claims of Services that do not have the name. */
  readonly leaked: readonly string[];
  /** Names of several Services, or of one while the claim has another owner. */
  readonly contested: readonly { readonly name: string; readonly owners: readonly Owner[] }[];
}

const keyOf = ({ namespace, name }: Owner): string => `${namespace}/${name}`;

export function compareClaims(holders: Iterable<Holder>, claims: Iterable<Claim>): Findings {
  const held = new Map<string, Owner[]>();
  for (const { owner, names } of holders) {
    for (const name of names) {
      const owners = held.get(name);
      if (owners) owners.push(owner);
      else held.set(name, [owner]);
    }
  }
  const missing: { name: string; owner: Owner }[] = [];
  const leaked: string[] = [];
  const contested: { name: string; owners: Owner[] }[] = [];
  const claimed = new Set<string>();
  for (const { name, owner, isManaged } of claims) {
    claimed.add(name);
    const owners = held.get(name) ?? [];
    const isRight = owner !== undefined && owners.some((it) => keyOf(it) === keyOf(owner));
    if (isRight) continue;
    if (isManaged) leaked.push(name);
    // Users may claim addresses, but not those of Services.
    else if (owners.length > 0) contested.push({ name, owners: [...owners, ...(owner ? [owner] : [])] });
  }
  for (const [name, owners] of held) {
    if (owners.length > 1) contested.push({ name, owners });
    if (!claimed.has(name)) missing.push({ name, owner: owners[0]! });
  }
  return { missing, leaked, contested };
}
