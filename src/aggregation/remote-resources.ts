import { compareKubeVersions } from '../machinery/kube-version.js';
import type { RemoteDocuments } from './remote-documents.js';
import type { RemoteResource } from './remote-discovery.js';
import type { RemoteVersion } from './remote-version.js';
import type { RemoteVersions } from './remote-versions.js';

/** A resource of an aggregated server. */
export interface RemoteRef {
  readonly version: RemoteVersion;
  readonly resource: RemoteResource;
}

interface FoundResources {
  /** Each resource in the version that its group prefers. */
  readonly resources: readonly RemoteRef[];
  /** The versions whose discovery could not be read: `example.com/v1`. */
  readonly stale: readonly string[];
}

/** Returns the resources that aggregated servers had when their discovery was read last. */
export function remoteResources(
  versions: Pick<RemoteVersions, 'list'>,
  documents: Pick<RemoteDocuments, 'discoveryOf'>,
): FoundResources {
  const found = new Map<string, RemoteRef>();
  const stale: string[] = [];
  const preferredFirst = versions
    .list()
    .sort((a, b) => b.versionPriority - a.versionPriority || compareKubeVersions(b.version, a.version));
  for (const version of preferredFirst) {
    const { resources, isCurrent } = documents.discoveryOf(version);
    if (!isCurrent) stale.push(`${version.group}/${version.version}`);
    for (const resource of resources) {
      const key = `${version.group}/${resource.resource}`;
      if (!found.has(key)) found.set(key, { version, resource });
    }
  }
  return { resources: [...found.values()], stale };
}
