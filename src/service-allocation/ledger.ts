import type { EncodedObject } from '../cache/encoded-object.js';
import type { Revision } from '../machinery/revision.js';
import type { ResourceStore } from '../registry/resource-store.js';

/** As it was at a revision: in the store, whatever the cache has seen. */
interface Known {
  readonly encoded: EncodedObject | undefined;
  readonly revision: Revision;
}

const knownKept = 256;

/**
 * Which names of a resource are taken, where each name is one thing that can be had once. The store decides, by refusing
 * a second object of a name; this is the best guess before that, made of what the cache holds, of what was learnt from
 * the store since, and of what other requests are about to take.
 */
export class Ledger {
  private readonly known = new Map<string, Known>();
  private readonly held = new Set<string>();

  constructor(readonly store: ResourceStore) {}

  /** Whether others should rather take another one. */
  isWanted(name: string): boolean {
    return this.held.has(name) || this.fresher(name)?.encoded !== undefined;
  }

  /** Until release(), no other request of this server chooses it. */
  hold(name: string): void {
    this.held.add(name);
  }

  release(name: string): void {
    this.held.delete(name);
  }

  /** What the store held at a revision, from one of its own answers. */
  learn(name: string, encoded: EncodedObject | undefined, revision: Revision): void {
    if (this.known.size >= knownKept) this.forgetSeen();
    this.known.set(name, { encoded, revision });
  }

  /** What has the name, as far as this server knows. */
  find(name: string): EncodedObject | undefined {
    const fresher = this.fresher(name);
    return fresher ? fresher.encoded : this.store.cache.get(this.store.keyOf('', name));
  }

  /** What has the name in the store now. */
  async look(name: string, signal: AbortSignal | undefined): Promise<EncodedObject | undefined> {
    const { encoded } = await this.store.storedCurrent(this.store.keyOf('', name), signal);
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
