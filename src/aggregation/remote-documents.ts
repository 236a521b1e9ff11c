import type { RemoteResource } from './remote-discovery.js';
import type { RemoteVersion } from './remote-version.js';

/** The discovery of an aggregated version, as of the last attempt to read it. */
interface Discovered {
  readonly resources: readonly RemoteResource[];
  /** False if the last attempt failed. */
  readonly isCurrent: boolean;
}

/** The OpenAPI of an aggregated version. It stays while its server does not answer. */
interface Described {
  /** The hash in the URL of the document of v3; undefined if the server has none. */
  readonly v3Hash: string | undefined;
  /** The OpenAPI v2 document of the server. */
  readonly v2: RemoteSwagger | undefined;
}

/** The parts of an OpenAPI v2 document that are merged into that of this server. */
export interface RemoteSwagger {
  readonly paths: Readonly<Record<string, object>>;
  readonly definitions: Readonly<Record<string, object>>;
  readonly parameters: Readonly<Record<string, object>>;
}

const undiscovered: Discovered = { resources: [], isCurrent: false };

/** Documents that were read from aggregated servers, by APIService. A reconciler updates them. */
export class RemoteDocuments {
  private readonly discovered = new Map<string, Discovered>();
  private readonly described = new Map<string, Described>();
  private readonly listeners = new Set<() => void>();
  private discoveryChanges = 0;
  private openApiChanges = 0;

  get discoveryGeneration(): number {
    return this.discoveryChanges;
  }

  get openApiGeneration(): number {
    return this.openApiChanges;
  }

  discoveryOf({ name }: RemoteVersion): Discovered {
    return this.discovered.get(name) ?? undiscovered;
  }

  openApiOf({ name }: RemoteVersion): Described | undefined {
    return this.described.get(name);
  }

  setDiscovery(name: string, discovered: Discovered): void {
    const before = this.discovered.get(name);
    if (before?.resources === discovered.resources && before.isCurrent === discovered.isCurrent) return;
    this.discovered.set(name, discovered);
    this.discoveryChanged();
  }

  setOpenApi(name: string, described: Described): void {
    const before = this.described.get(name);
    if (before?.v3Hash === described.v3Hash && before?.v2 === described.v2) return;
    this.described.set(name, described);
    this.openApiChanges++;
  }

  /** Forgets the documents of an APIService that was removed. */
  forget(name: string): void {
    if (this.described.delete(name)) this.openApiChanges++;
    if (this.discovered.delete(name)) this.discoveryChanged();
  }

  /** Calls `listener` after changes of discovery. */
  onDiscovery(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private discoveryChanged(): void {
    this.discoveryChanges++;
    for (const listener of this.listeners) listener();
  }
}
