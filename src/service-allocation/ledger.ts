import type { EncodedObject } from '../cache/encoded-object.js';
import type { Revision } from '../machinery/revision.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Cancellation } from '../std/cancellation.js';

/** The state of an object in the store at a revision, which the cache may not have reached. */
interface Known {
  readonly encoded: EncodedObject | undefined;
  readonly revision: Revision;
}

/** Recorded states beyond this number are dropped once the cache has reached their revision. */
const knownMax = 256;

/**
 * The names of a resource that are in use, where each name is a value that is allocated once (an IP address). The store
 * decides, by refusing a second object with a name. The ledger predicts that from the cache, from newer states that
 * transactions returned, and from the names that other requests of this server are about to use.
 */
export class Ledger {
  private readonly known = new Map<string, Known>();
  private readonly held = new Set<string>();

  constructor(readonly store: ResourceStore) {}

  /** True if the name is in use, or another request is about to use it. */
  isInUse(name: string): boolean {
    return this.held.has(name) || this.fresher(name)?.encoded !== undefined;
  }

  /** Keeps other requests of this server from choosing the name, until release(). */
  hold(name: string): void {
    this.held.add(name);
  }

  release(name: string): void {
    this.held.delete(name);
  }

  /** Records the state of an object that the store returned. */
  learn(name: string, encoded: EncodedObject | undefined, revision: Revision): void {
    if (this.known.size >= knownMax) this.forgetSeen();
    this.known.set(name, { encoded, revision });
  }

  /** Returns the object with the name, from the cache or a newer recorded state. */
  find(name: string): EncodedObject | undefined {
    const fresher = this.fresher(name);
    return fresher ? fresher.encoded : this.store.cache.get(this.store.keyOf('', name));
  }

  /** Reads the object with the name from the store. */
  async look(name: string, signal: Cancellation | undefined): Promise<EncodedObject | undefined> {
    const { encoded } = await this.store.storedCurrent(this.store.keyOf('', name), { signal });
    if (encoded) this.learn(name, encoded, encoded.revision);
    return encoded;
  }

  private fresher(name: string): Known | undefined {
    const known = this.known.get(name);
    if (!known || known.revision > this.store.dependencies.feed.position) return known;
    this.known.delete(name);
    return undefined;
  }

  private forgetSeen(): void {
    const { position } = this.store.dependencies.feed;
    for (const [name, { revision }] of this.known) if (revision <= position) this.known.delete(name);
  }
}
